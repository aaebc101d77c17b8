"""What is said of attached files that do not go to the model."""

from __future__ import annotations

from bot.texts.entry import text

ENTRIES = {
    "no_images": text("the model takes no images", de="das Modell nimmt keine Bilder"),
    "no_text": text("neither text nor an image I know", de="weder Text noch ein Bild, das ich kenne"),
    "too_large": text("larger than {n:,} kB", de="größer als {n:,} kB"),
    "images": text("more than {n} images", de="mehr als {n} Bilder"),
    "files": text("more than {n} files", de="mehr als {n} Dateien"),
    "left_out": text(
        "Not taken from what was attached: {files}.", de="Von dem, was anhing, nicht mitgenommen: {files}."
    ),
    "one": text("{name} ({why})", de="{name} ({why})"),
    "lies_at": text("it lies at {path}; {why}", de="sie liegt in {path}; {why}"),
    "too_many": text("more than {n} files", de="mehr als {n} Dateien"),
    "only_landed": text(
        "In the workspace, but not shown to the model: {files}.",
        de="Im Arbeitsordner, aber dem Modell nicht gezeigt: {files}.",
    ),
    "not_landed": text(
        "Shown to the model, but not put into the workspace: {files}.",
        de="Dem Modell gezeigt, aber nicht in den Arbeitsordner gelegt: {files}.",
    ),
    "not_given": text("Discord did not give it to me", de="Discord hat sie mir nicht gegeben"),
}
