# Signoff in a container. What is fenced in how, and what bubblewrap needs here: docs/getting-started.md
FROM python:3.12-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /srv/signoff
COPY .ci/constraints.txt .ci/constraints.txt
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY cogs cogs
COPY storage storage
RUN pip install --no-cache-dir --constraint .ci/constraints.txt .

RUN useradd --uid 10001 --create-home signoff && install -d -o signoff -g signoff -m 700 /data
USER signoff
WORKDIR /data
ENV SIGNOFF_DATABASE=/data/signoff.sqlite3 \
    SIGNOFF_WORKSPACE=/data/workspace \
    PYTHONUNBUFFERED=1
VOLUME /data
ENTRYPOINT ["signoff"]
CMD ["run"]
