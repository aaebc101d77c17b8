"""The forms: titles, fields, hints."""

from __future__ import annotations

from bot.texts.entry import hint, label, text, title

ENTRIES = {
    "answer_title": title("Your answer", de="Deine Antwort"),
    "answer": label("Answer", de="Antwort"),
    "reason": label("Reason", de="Begründung"),
    "reason_hint": hint(
        "The model is told, and the card shows it.", de="Das Modell erfährt sie, und die Karte zeigt sie."
    ),
    "deny_title": title("Deny with a reason", de="Ablehnen mit Begründung"),
    "as_json": text("the arguments as JSON", de="die Argumente als JSON"),
    "or_file": label("Or as a file", de="Oder als Datei"),
    "changed_file": label("The changed file", de="Die geänderte Datei"),
    "file_hint": hint(
        "A text file; it counts in place of what stands above.",
        de="Eine Textdatei; sie zählt anstelle dessen, was oben steht.",
    ),
    "too_long": text(
        "This is too long for a form. `Details` gives you {what} as a file: change it, and upload it here.",
        de=(
            "Das ist zu lang für ein Formular. `Details` gibt dir {what} als Datei: Ändere sie und lade sie hier hoch."
        ),
    ),
    "edit_title": title("Edit the call", de="Den Aufruf ändern"),
    "arguments": label("Arguments as JSON", de="Argumente als JSON"),
    "note": label("What it should know", de="Was er wissen soll"),
    "note_title": title("A note for the job", de="Eine Notiz für den Auftrag"),
    "unseen_title": title("Approve what is not all shown?", de="Genehmigen, ohne alles zu sehen?"),
    "unseen": text(
        (
            "Only a part is shown here; the whole is in the card's attached file and in `Details`, and the whole"
            " would run. Read it first."
        ),
        de=(
            "Hier ist nur ein Teil zu sehen. Das Ganze steht in der Datei an der Karte und in `Details`, und das"
            " Ganze würde laufen. Lies es zuerst."
        ),
    ),
    "unseen_type": label("Type {word} to approve the whole", de="Tippe {word}, um alles zu genehmigen"),
    "it": text("it", de="es"),
    "confirmation": text("approve", de="genehmigen"),
}
