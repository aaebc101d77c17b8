"""What is said about files: taking a write back."""

from __future__ import annotations

from bot.texts.entry import button, stored, text

ENTRIES = {
    "undo": button("Undo", de="Rückgängig machen"),
    "card_undone": text(
        "Undone by <@{person}> at {at}: the file holds again what it held before.",
        de="Rückgängig gemacht von <@{person}>, {at}: Die Datei enthält wieder, was vorher darin war.",
    ),
    "card_removed": text(
        "Undone by <@{person}> at {at}: the file is removed again.",
        de="Rückgängig gemacht von <@{person}>, {at}: Die Datei ist wieder entfernt.",
    ),
    "card_undoing": text("Being undone by <@{person}>.", de="Wird gerade von <@{person}> rückgängig gemacht."),
    "card_unknown": text(
        (
            "⚠ <@{person}> pressed Undo, and something broke while it was at it: nobody knows whether the file was put"
            " back. Look at the file."
        ),
        de=(
            "⚠ <@{person}> hat Rückgängig gedrückt, und mittendrin ist etwas abgebrochen: Niemand weiß, ob die Datei"
            " wiederhergestellt wurde. Sieh in die Datei."
        ),
    ),
    "gone": text(
        "The file is not there any more, so nothing was put back.",
        de="Die Datei gibt es nicht mehr, deshalb wurde nichts wiederhergestellt.",
    ),
    "changed": text(
        (
            "The file was changed after this write: it holds {n:,} bytes now (sha256 `{mark}`), and the write left"
            " others (`{left}`). Putting the old ones back would destroy that, so nothing was changed."
        ),
        de=(
            "Die Datei wurde nach diesem Schreiben geändert: Sie enthält jetzt {n:,} Bytes (sha256 `{mark}`), und das"
            " Schreiben hat andere hinterlassen (`{left}`). Die alten zurückzuholen würde das zerstören, deshalb wurde"
            " nichts geändert."
        ),
    ),
    "not_ordinary": text(
        "The file cannot be used any more ({why}), so nothing was put back.",
        de="Mit der Datei geht das nicht mehr ({why}), deshalb wurde nichts wiederhergestellt.",
    ),
    "as_before": text(
        "The file is already as it was before this write. Nothing was changed.",
        de="Die Datei ist schon so, wie sie vor diesem Schreiben war. Nichts wurde geändert.",
    ),
    "not_ended": text(
        "This write has not ended yet, so there is nothing to undo.",
        de="Dieses Schreiben ist noch nicht zu Ende, deshalb gibt es nichts rückgängig zu machen.",
    ),
    "nothing_kept": text(
        "Nothing was kept of what was there before this call, so it cannot be undone.",
        de="Von dem, was vorher da war, wurde nichts aufgehoben, deshalb lässt sich das nicht rückgängig machen.",
    ),
    "copy_gone": text(
        (
            "The copy of what was there before is not kept any more (SIGNOFF_UNDO_FOR), so this cannot be undone."
            " Nothing was changed."
        ),
        de=(
            "Die Kopie von dem, was vorher da war, gibt es nicht mehr (SIGNOFF_UNDO_FOR), deshalb lässt sich das nicht"
            " rückgängig machen. Nichts wurde geändert."
        ),
    ),
    "not_genuine": text(
        "The copy of what was there before is not as this bot stored it, so nothing was put back.",
        de="Die Kopie von dem, was vorher da war, ist nicht so, wie dieser Bot sie gespeichert hat; nichts wurde"
        " wiederhergestellt.",
    ),
    "not_written": text(
        "The file could not be put back ({problem}). Nothing was changed; the button still counts.",
        de="Die Datei ließ sich nicht wiederherstellen ({problem}). Nichts wurde geändert; der Knopf zählt weiter.",
    ),
    "not_kept": stored(
        "What the file holds could not be kept for an undo ({why}), so nothing was written.",
        de="Was die Datei enthält, ließ sich nicht zum Rückgängigmachen aufheben ({why}); nichts wurde geschrieben.",
    ),
    "four_eyes": text(
        (
            "You asked for this or changed it yourself, so undoing it is for another approver as well. Nothing changed."
            " {help}"
        ),
        de=(
            "Du hast selbst darum gebeten oder es geändert, deshalb ist auch das Rückgängigmachen Sache eines anderen"
            " Genehmigers. Nichts hat sich geändert. {help}"
        ),
    ),
    "being_undone": text(
        "Somebody is undoing this at the moment; the card will show what comes of it.",
        de="Das macht gerade jemand rückgängig; die Karte wird zeigen, was daraus wird.",
    ),
    "undone_already": text(
        "This has been undone already; the card shows by whom. Nothing was changed.",
        de="Das wurde schon rückgängig gemacht; die Karte zeigt, von wem. Nichts wurde geändert.",
    ),
    "undo_unknown": text(
        (
            "Somebody pressed this before, and something broke while it was at it: nobody knows whether the file was"
            " put back. It is not tried a second time. Look at the file."
        ),
        de=(
            "Das hat schon jemand gedrückt, und mittendrin ist etwas abgebrochen: Niemand weiß, ob die Datei"
            " wiederhergestellt wurde. Ein zweites Mal wird es nicht versucht. Sieh in die Datei."
        ),
    ),
    "folder_full": text(
        "there is no room left in the folder {folder} of the workspace",
        de="im Ordner {folder} des Arbeitsordners ist kein Platz mehr",
    ),
    "not_stored": text("it could not be stored: {why}", de="sie ließ sich nicht ablegen: {why}"),
    "story_pressed": text("{actor} pressed Undo", de="{actor} hat Rückgängig gedrückt"),
    "story_undone": text("The write was undone", de="Das Schreiben wurde rückgängig gemacht"),
    "story_unchanged": text(
        "The undo changed nothing", de="Es ließ sich nicht rückgängig machen; nichts wurde geändert"
    ),
    "story_unknown": text(
        "Something broke during the undo; nobody knows whether the file was put back",
        de="Beim Rückgängigmachen ist etwas abgebrochen; niemand weiß, ob die Datei wiederhergestellt wurde",
    ),
}
