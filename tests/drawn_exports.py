"""Small studies with a known main number, written as the tables of eight languages are."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from openpyxl import Workbook

WORDS: dict[str, dict[str, Sequence[str]]] = {
    "en": {
        "reader": ("Reader", "Radiologist", "reader_id", "Reader No."),
        "case": ("Case", "Case ID", "Exam", "Study ID"),
        "arm": ("Arm", "Reading mode", "Condition", "Modality"),
        "truth": ("Truth", "Ground truth", "Reference standard", "Final diagnosis", "Gold standard"),
        "decision": ("Decision", "Call", "Reader decision", "Finding present"),
        "score": ("Score", "Probability", "AI score", "Risk"),
        "seconds": ("Reading time", "Time (s)", "seconds", "Duration"),
        "unaided": ("without AI", "unaided", "unassisted"),
        "aided": ("with AI", "aided", "assisted"),
        "yes": ("yes", "positive", "present", "diseased"),
        "no": ("no", "negative", "absent", "healthy"),
        "title": ("Export of the registry, final",),
    },
    "de": {
        "reader": ("Leser", "Befunder", "Arzt", "Radiologe", "Ärztin"),
        "case": ("Fall", "Fallnummer", "Untersuchung", "Fall-Nr."),
        "arm": ("Bedingung", "Modus", "Runde", "Modalität", "Lesemodus"),
        "truth": ("Wahrheit", "Referenz", "Referenzstandard", "Goldstandard", "Enddiagnose"),
        "decision": ("Entscheidung", "Urteil", "Beurteilung"),
        "score": ("Score", "Wahrscheinlichkeit", "KI-Score", "Risiko"),
        "seconds": ("Lesezeit", "Zeit (s)", "Sekunden", "Dauer"),
        "unaided": ("ohne KI", "ohne"),
        "aided": ("mit KI", "mit"),
        "yes": ("ja", "positiv", "krank"),
        "no": ("nein", "negativ", "gesund"),
        "title": ("Auszug der Studiendatenbank",),
    },
    "fr": {
        "reader": ("Lecteur", "Médecin", "Radiologue", "N° lecteur"),
        "case": ("Cas", "Examen", "Dossier", "Numéro de cas"),
        "arm": ("Bras", "Modalité", "Condition", "Mode de lecture"),
        "truth": ("Vérité", "Référence", "Étalon-or", "Diagnostic final", "Standard de référence"),
        "decision": ("Décision", "Avis", "Conclusion"),
        "score": ("Score", "Probabilité", "Score IA", "Risque"),
        "seconds": ("Temps de lecture", "Temps (s)", "Secondes", "Durée"),
        "unaided": ("sans IA", "sans"),
        "aided": ("avec IA", "avec"),
        "yes": ("oui", "positif", "malade"),
        "no": ("non", "négatif", "sain"),
        "title": ("Extraction du registre",),
    },
    "it": {
        "reader": ("Lettore", "Medico", "Radiologo", "N. lettore"),
        "case": ("Caso", "Esame", "ID caso"),
        "arm": ("Braccio", "Modalità", "Condizione", "Modalità di lettura"),
        "truth": ("Verità", "Riferimento", "Standard di riferimento", "Diagnosi finale", "Gold standard"),
        "decision": ("Decisione", "Giudizio", "Esito"),
        "score": ("Punteggio", "Probabilità", "Punteggio IA", "Rischio"),
        "seconds": ("Tempo di lettura", "Tempo (s)", "Secondi", "Durata"),
        "unaided": ("senza IA", "senza"),
        "aided": ("con IA", "con"),
        "yes": ("sì", "si", "positivo", "malato"),
        "no": ("no", "no", "negativo", "sano"),
        "title": ("Estrazione del registro",),
    },
    "es": {
        "reader": ("Lector", "Médico", "Radiólogo", "Nº lector"),
        "case": ("Caso", "Estudio", "Examen", "ID caso"),
        "arm": ("Brazo", "Modalidad", "Condición", "Modo de lectura"),
        "truth": ("Verdad", "Referencia", "Estándar de referencia", "Diagnóstico final", "Patrón oro"),
        "decision": ("Decisión", "Dictamen", "Juicio"),
        "score": ("Puntuación", "Probabilidad", "Puntuación IA", "Riesgo"),
        "seconds": ("Tiempo de lectura", "Tiempo (s)", "Segundos", "Duración"),
        "unaided": ("sin IA", "sin"),
        "aided": ("con IA", "con"),
        "yes": ("sí", "positivo", "enfermo"),
        "no": ("no", "negativo", "sano"),
        "title": ("Extracto del registro",),
    },
    "pt": {
        "reader": ("Leitor", "Médico", "Radiologista", "Nº leitor"),
        "case": ("Caso", "Exame", "ID do caso"),
        "arm": ("Braço", "Modalidade", "Condição", "Modo de leitura"),
        "truth": ("Verdade", "Referência", "Padrão de referência", "Diagnóstico final", "Padrão-ouro"),
        "decision": ("Decisão", "Parecer", "Julgamento"),
        "score": ("Pontuação", "Probabilidade", "Pontuação IA", "Risco"),
        "seconds": ("Tempo de leitura", "Tempo (s)", "Segundos", "Duração"),
        "unaided": ("sem IA", "sem"),
        "aided": ("com IA", "com"),
        "yes": ("sim", "positivo", "doente"),
        "no": ("não", "negativo", "saudável"),
        "title": ("Extração do registo",),
    },
    "nl": {
        "reader": ("Lezer", "Arts", "Radioloog", "Beoordelaar"),
        "case": ("Casus", "Geval", "Onderzoek"),
        "arm": ("Arm", "Conditie", "Modaliteit", "Leesmodus"),
        "truth": ("Waarheid", "Referentie", "Referentiestandaard", "Gouden standaard", "Einddiagnose"),
        "decision": ("Beslissing", "Oordeel", "Conclusie"),
        "score": ("Score", "Waarschijnlijkheid", "AI-score", "Risico", "Kans"),
        "seconds": ("Leestijd", "Tijd (s)", "Seconden", "Duur"),
        "unaided": ("zonder AI", "zonder"),
        "aided": ("met AI", "met"),
        "yes": ("ja", "positief", "ziek"),
        "no": ("nee", "negatief", "gezond"),
        "title": ("Uitdraai van de studie",),
    },
    "pl": {
        "reader": ("Czytelnik", "Lekarz", "Radiolog", "Czytający"),
        "case": ("Przypadek", "Badanie", "Nr przypadku"),
        "arm": ("Ramię", "Tryb", "Warunek", "Tryb odczytu"),
        "truth": ("Prawda", "Wzorzec", "Standard referencyjny", "Złoty standard", "Rozpoznanie końcowe"),
        "decision": ("Decyzja", "Ocena", "Werdykt"),
        "score": ("Wynik", "Prawdopodobieństwo", "Wynik AI", "Ryzyko"),
        "seconds": ("Czas odczytu", "Czas (s)", "Sekundy", "Czas"),
        "unaided": ("bez AI", "bez SI", "bez"),
        "aided": ("z AI", "z SI", "z"),
        "yes": ("tak", "dodatni", "chory"),
        "no": ("nie", "ujemny", "zdrowy"),
        "title": ("Eksport z rejestru",),
    },
}
# Columns that no question of a report uses, two of them with the name of one that it does use.
EXTRAS = {
    "Remarks": lambda i: f"note {i}",
    "Batch": lambda i: "AB"[i % 2],
    "CRP": lambda i: 3 + i * 7 % 40,
    "confidence": lambda i: 1 + i % 5,
    "order": lambda i: ("first", "second")[i % 2],
    "secnds": lambda i: "n/d",
    "Sex": lambda i: "FM"[i % 2],
    "status_code": lambda i: "ok",
    "Smoker": lambda i: ("yes", "no")[i * 5 % 7 % 2],
    "Age": lambda i: 40 + i * 3 % 31,
    "Hospital": lambda i: "NS"[i % 2],
    "AI result": lambda i: i * 3 % 5 % 2,
    "Comment of reader": lambda i: ("", "unclear")[i % 2],
}
SHAPES = ("long", "arms in columns", "readers and arms in columns", "scores", "calls")
DICTIONARY = ["Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label",
              "Choices, Calculations, OR Slider Labels"]  # fmt: skip


@dataclass(frozen=True)
class Export:
    """Tables as they are written, their main number, and the quantity that it is."""

    shape: str
    tables: dict[str, list[list[Any]]]
    number: float
    form: str
    encoding: str
    sign: str
    comma: bool

    def write(self, folder: Path) -> list[Path]:
        """The tables as files."""
        return [self._written(folder, name, rows) for name, rows in self.tables.items()]

    def _written(self, folder: Path, name: str, rows: list[list[Any]]) -> Path:
        if self.form == "xlsx" and name == "export":
            book = Workbook()
            for row in rows:
                book.active.append(row)
            book.save(folder / f"{name}.xlsx")
            return folder / f"{name}.xlsx"
        with (folder / f"{name}.csv").open("w", encoding=self.encoding, newline="") as file:
            cells = [[self._cell(cell) for cell in row] for row in rows]
            csv.writer(file, delimiter=self.sign).writerows(cells)
        return folder / f"{name}.csv"

    def _cell(self, cell: Any) -> str:
        written = "" if cell is None else str(cell)
        return written.replace(".", ",") if self.comma and isinstance(cell, float) else written


@st.composite
def exports(draw: st.DrawFn) -> Export:
    """Draw a study, the words of its table and how that is written."""
    language = draw(st.sampled_from(sorted(WORDS)))
    shape = draw(st.sampled_from(SHAPES))
    words = {word: draw(st.sampled_from(known)) for word, known in WORDS[language].items()}
    k = draw(st.integers(0, len(WORDS[language]["yes"]) - 1))
    said = {1: WORDS[language]["yes"][k], 0: WORDS[language]["no"][k]}
    known_codes = draw(st.booleans())
    codes: dict[int, Any] = {1: 1, 0: 0} if known_codes else said
    explained = shape == "long" and draw(st.integers(0, 4)) == 0
    if explained:
        codes = {1: 1, 0: 2}
    elif not known_codes and draw(st.integers(0, 5)) == 0:
        codes = draw(st.sampled_from(({1: 2, 0: 1}, {1: "A", 0: "B"})))
    hidden = draw(st.sampled_from(("", "", "truth", "decision", "score")))
    if hidden and not explained:
        words[hidden] = "Q7"
    pair = draw(st.integers(0, min(map(len, (WORDS[language]["unaided"], WORDS[language]["aided"]))) - 1))
    arms = [WORDS[language][word][pair] for word in ("unaided", "aided")]
    if shape == "long" and draw(st.integers(0, 3)) == 0:
        arms = draw(st.sampled_from((["0", "1"], ["A", "B"], ["no", "yes"])))
    n = draw(st.integers(9, 14))
    readers = [f"R{j}" for j in range(1, draw(st.integers(2, 3)) + 1)]
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    truth = draw(bits.filter(lambda own: 2 <= sum(own) <= n - 2))
    # A column without a name of its own is known as the truth beside decisions of both kinds only.
    calls = bits.filter(lambda own: 0 < sum(own) < n) if hidden == "truth" else bits
    called = {(r, a): draw(calls) for r in readers for a in (0, 1)}
    cases = [f"P-{i:03}" for i in range(n)]
    head, rows, number = _rows(shape, words, arms, cases, readers, truth, called, codes, draw)
    extras = sorted(EXTRAS if shape != "calls" else EXTRAS.keys() - {"AI result"})  # it would be the decision
    for name in draw(st.lists(st.sampled_from(extras), unique=True, max_size=3)):
        head.append(name)
        for i, row in enumerate(rows):
            row.append(EXTRAS[name](i))
    apart = words["truth"] in head and shape == "long" and not explained and draw(st.integers(0, 2)) == 0
    apart = apart and hidden not in ("truth", "decision")
    truths = [[row[head.index(words[w])] for w in ("case", "truth")] for row in rows]
    order = draw(st.permutations([i for i, h in enumerate(head) if not (apart and h == words["truth"])]))
    table = [[row[i] for i in order] for row in (head, *rows)]
    title = [[words["title"]], []][: draw(st.integers(0, 2))]
    tables = {"export": [*title, *table]}
    if apart:
        unique = [list(row) for row in dict.fromkeys(map(tuple, truths))]
        tables["cases"] = [[words["case"], words["truth"]], *unique]
    if explained:
        meant = f"1, {said[1]} | 2, {said[0]}"
        asked = [[h, "form", "", "radio", h, meant if h in (words["truth"], words["decision"]) else ""]
                 for h in head]  # fmt: skip
        tables["dictionary"] = [DICTIONARY, *asked]
    encoding = "utf-8" if language == "pl" else draw(st.sampled_from(("utf-8", "cp1252")))
    comma = draw(st.booleans())
    form = draw(st.sampled_from(("csv", "csv", "xlsx")))
    return Export(shape, tables, number, form, encoding, ";" if comma else ",", comma and form == "csv")


def _rows(
    shape: str,
    words: dict[str, str],
    arms: list[str],
    cases: list[str],
    readers: list[str],
    truth: list[int],
    called: dict[tuple[str, int], list[int]],
    codes: dict[int, Any],
    draw: st.DrawFn,
) -> tuple[list[str], list[list[Any]], float]:
    """The header, the rows and the main number of a shape."""
    right = {key: sum(c == t for c, t in zip(own, truth)) for key, own in called.items()}
    gain = sum(right[r, 1] - right[r, 0] for r in readers) / (len(readers) * len(cases))
    timed = draw(st.booleans())
    at = list(enumerate(zip(cases, truth)))
    if shape == "long":
        head = [words[w] for w in ("reader", "case", "arm", "truth", "decision")]
        rows = [
            [r, case, arms[a], codes[t], codes[called[r, a][i]]]
            for r in readers for i, (case, t) in at for a in (0, 1)
        ]  # fmt: skip
        if timed:
            head.append(words["seconds"])
            gap = draw(st.sampled_from(("", "NA", 20.5, 20.5)))
            rows = [[*row, 20.5 + i % 30 if i % 6 else gap] for i, row in enumerate(rows)]
        return head, rows, gain
    if shape == "arms in columns":
        head = [*(words[w] for w in ("reader", "case", "truth")), *(f"{words['decision']} {a}" for a in arms)]
        rows = [
            [r, case, codes[t], codes[called[r, 0][i]], codes[called[r, 1][i]]]
            for r in readers for i, (case, t) in at
        ]  # fmt: skip
        return head, rows, gain
    if shape == "readers and arms in columns":
        head = [words["case"], words["truth"], *(f"{r} {a}" for r in readers for a in arms)]
        rows = [
            [case, codes[t], *(codes[called[r, a][i]] for r in readers for a in (0, 1))]
            for i, (case, t) in at
        ]  # fmt: skip
        return head, rows, gain
    if shape == "calls":
        own = called[readers[0], 1]
        head = [words[w] for w in ("case", "truth", "decision")]
        found = sum(c for c, t in zip(own, truth) if t) / sum(truth)
        return head, [[case, codes[t], codes[own[i]]] for i, (case, t) in at], found
    scores = draw(st.lists(st.integers(1, 99), min_size=len(cases), max_size=len(cases)).filter(_varied))
    head = [words[w] for w in ("case", "truth", "score")]
    pairs = [(a, b) for a, t in zip(scores, truth) if t for b, s in zip(scores, truth) if not s]
    area = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
    signed = draw(st.sampled_from((0, 0, 1, 2)))
    written = [(s / 100, s + 0.5, f"{s} %")[signed] for s in scores]
    return head, [[case, codes[t], written[i]] for i, (case, t) in at], area


def _varied(scores: list[int]) -> bool:
    return len(set(scores)) > 4
