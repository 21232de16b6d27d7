"""On which data a threshold was chosen, as its declared origin says in free text, in four languages.

A text is read clause by clause. A clause that names data which test the threshold says that it was chosen
there, unless it denies it ("not on", "before ... was opened") or says that the threshold was used there
("applied to") and not chosen. What was chosen belongs to the first data that are named after it: in "chosen
on the tuning set and applied to the test set" to the tuning set. A clause without a verb continues the one
before ("chosen on the tuning and test sets").
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# What data are called, and what may stand before that.
DATA = (
    r"(?:data ?(?:sets?|bases?)?|sets?|cohorts?|samples?|populations?|cases|images|patients|splits?"
    r"|partitions?|sites?|hospitals?|collections?|series|folds?|groups?|stud(?:y|ies)|trials?)"
)
DATEN = r"(?:(?:daten|fäll|set|kollektiv|patient|test|validierung)\w*|kohorte|stichprobe|population)"
DONNEES = r"(?:données|jeux?|ensembles?|cohortes?|échantillons?|bases?|images|cas|patients|populations?)"
DATI = r"(?:dati|set|insieme|campione|coorte|casi|immagini|popolazione|dataset|gruppo|pazienti)"
FILL = r"(?:(?:validation|test(?:ing)?|evaluation|patient|image|hospital|clinical|study|local|external)[- ])*"
MADE = r"(?:train(?:ing)?|tuning|development(?:al)?|derivation|cross-?validation|internal[- ]validation)"
VALIDATION = rf"(?:validation|test(?:ing)?)(?:[- ]{DATA})?"
# Data that test the threshold.
TESTED = (
    rf"(?:external|independent|geographic(?:al)?|temporal)[- ]{FILL}{VALIDATION}",
    rf"(?:prospective|final|pivotal|h[eo]ld[- ]?out)[- ]{FILL}{VALIDATION}",
    rf"(?:external|independent|pivotal|h[eo]ld[- ]?out|evaluation|test(?:ing)?)[- ]{FILL}{DATA}",
    r"test ?sets?",
    r"test[- ](?:scores|labels|roc|curves?)",
    r"(?:images|cases|data|patients) of (?:this|the) test",
    r"(?<=on )(?:the )?test(?:ing)?(?= *(?:[.,;:)]|$))",
    r"validation[- ](?:cohorts?|populations?|stud(?:y|ies)|trials?|patients|hospitals?)",
    rf"(?:this|these|those)[- ]{FILL}(?!stud|trial){DATA}",
    rf"(?:the )?(?:same|present|current|reported|submitted|analy[sz]ed)[- ]{FILL}(?!stud|trial){DATA}",
    r"(?<!for )(?<!by )(?<!the )(?:this|same|present|current|reported) (?:study|trial)",
    r"(?<!for )(?<!by )the (?:same|present|current|reported) (?:study|trial)",
    r"(?:study|trial)[- ](?:data|population|cohort|cases|set|sample|sites|patients)",
    r"(?:the|our) (?:data|cohort|sample)(?! (?:of|from|sheet|base|used|for|on which|with which))",
    r"post[- ]?hoc|a posteriori|after the fact|retrospectively",
    r"(?:after|following|upon|at|on) (?:the )?(?:un-?blinding|unmasking|data(?:base)? lock|results)",
    # German
    r"test-?(?:daten\w*|sets?|satz\w*|menge|kohorte|stichprobe|kollektiv\w*|fälle\w*|sammlung|population)",
    rf"extern\w* (?:validierungs\w*|studie\w*|{DATEN})",
    r"(?:unabhängig|prospektiv)\w* (?:validierung|kohorte|test|stichprobe|kollektiv|daten|studie)\w*",
    r"(?:validierungs|studien)(?:kohorte|kollektiv|studie|stichprobe|population|patient)\w*",
    r"(?:studien|prüf|evaluierungs|evaluations|auswertungs)(?:daten|set|kohorte)\w*",
    rf"(?:dies\w{{1,2}}|vorliegend\w*|gegenwärtig\w*|aktuell\w*|denselben|derselben|gleichen) {DATEN}",
    r"(?<!für )(?:dieser?|vorliegende[rn]?|gegenwärtige[rn]?|derselben|gleichen) (?:studie|auswertung)",
    r"nachträglich\w*|im nachhinein|nach (?:der )?(?:entblindung|auswertung|datenöffnung)",
    # French
    rf"{DONNEES}(?: de données)? (?:de |d'|du )(?:test|évaluation|essai)",
    rf"(?:{DONNEES}|études?)(?: de données)?(?: (?:de )?(?:validation|test))? (?:externes?|indépendante?s?)",
    r"(?:cohorte|étude|population|échantillon) de validation|validation (?:externe|indépendante)",
    rf"(?:ces|cet|cette|ce|(?:la |le |les )?(?:présente?s?|mêmes?)) {DONNEES}",
    r"(?<!pour )(?:cette|la présente|présente|la même|même) étude",
    r"(?:données|population|cohorte|patients) de (?:l'étude|l'essai)|résultats (?:de |du )test",
    # Italian
    rf"{DATI}(?: di dati)? (?:di |del )(?:test|prova|valutazione)",
    rf"(?:{DATI}|studio)(?: di dati)?(?: (?:di )?(?:validazione|convalida|test))? estern[aoi]",
    rf"(?:{DATI}|studio)(?: di dati)?(?: (?:di )?(?:validazione|convalida|test))? indipendent[ei]",
    r"(?:coorte|studio|popolazione|campione) di (?:validazione|convalida)",
    r"(?:validazione|convalida) (?:esterna|indipendente)",
    rf"(?:quest[oaie]|(?:il |la |i )?(?:presenti?|stess[oaie]|medesim[oaie])) {DATI}",
    r"(?<!per )(?:questo|presente|stesso|medesimo) studio",
    r"(?:dati|popolazione|coorte|pazienti) dello studio",
)
OF_INTERNAL_TEST = (
    rf"internal[- ](?:hold-?out |held-?out )?test(?:ing)?(?:[- ]{DATA})?",
    r"intern\w* test\w*",
    r"(?:données|jeu|ensemble)(?: de)? test internes?",
    r"(?:dati|set|insieme) di test intern[oi]",
)
# Data that the device was made from. What is called a validation set is most often one of them.
OF_MAKING = (
    rf"{MADE}(?:(?:[- ](?:and|or)[- ]|/){MADE})*(?:[- ]{DATA})?",
    rf"(?:learning|calibration|pilot|in-house|internal)[- ]{DATA}",
    r"validation[- ](?:sets?|splits?|folds?|data ?sets?|data|partitions?|samples?|loss)",
    r"(?:trainings|tuning|entwicklungs|ableitungs|lern|kalibrierungs|pilot)-?(?:daten|set|satz|kollektiv)\w*",
    r"(?:trainings|tuning|entwicklungs|ableitungs|lern|pilot)-?(?:kohorte|studie|menge|stichprobe)",
    r"kreuzvalidierung|intern\w* validierung\w*|validierungs-?(?:daten\w*|sets?|satz)",
    rf"{DONNEES}(?: de données)? (?:de |d'|du )?(?:entra[iî]nement|apprentissage|développement|réglage)",
    rf"{DONNEES}(?: de données)? (?:de |d'|du )?(?:mise au point|calibrage|pilote)",
    r"entra[iî]nement|validation (?:croisée|interne)",
    r"(?:jeux?|ensembles?|données)(?: de données)? de validation",
    rf"{DATI}(?: di dati)? (?:di |del |d')?(?:addestramento|sviluppo|taratura|messa a punto|calibrazione)",
    rf"{DATI}(?: di dati)? (?:di |del |d')?(?:tuning|training|pilota)|addestramento",
    r"(?:validazione|convalida) (?:incrociata|interna)",
    r"(?:dati|set|insieme)(?: di dati)? di (?:validazione|convalida)",
)
# Origins that are no data of the study.
SOURCE = (
    r"manufacturers?|vendors?|suppliers?|literature|guidelines?|published|previous\w*|earlier|a priori",
    r"pre-?specified|pre-?defined|in advance|beforehand|protocol|analysis plan|consensus|experts?",
    r"herstellers?|literatur|leitlinien?|vorab|im voraus|früher\w*|vorheriger?|prüfplan|auswerteplan|konsens",
    r"fabricants?|littérature|recommandations?|à l'avance|au préalable|préalablement",
    r"pré-?spécifié\w*|prédéfini\w*",
    r"fabbricante|produttore|letteratura|linee guida|in anticipo|predefinit\w|prestabilit\w|prespecificat\w",
)
NOT_ONLY = (r"not only|not just|nicht nur|non seulement|pas seulement|non solo|non soltanto",)
DENIED = (
    r"not|\w+n't|cannot|never|no|nor|neither|none|without|before|prior to|ahead of|until",
    r"(?:blind(?:ed)?|mask(?:ed)?) to|than|instead of|unlike|excluding|except|outside|apart from",
    r"(?:independent(?:ly)?|separate(?:ly)?|different|distinct|disjoint) (?:of|from)",
    r"nicht|nie|niemals|kein\w*|ohne|bevor|vor|weder|noch|statt|anstatt|außer|außerhalb",
    r"(?:unabhängig|getrennt|verschieden) von",
    r"pas|jamais|sans|avant|aucune?|indépendamment|plutôt que|au lieu|hors|autres? que",
    r"(?:indépendante?s?|distincte?s?|différente?s?|séparée?s?) d\w?['e]\w*",
    r"non(?!-)|mai|senza|prima|nessun\w*|né|invece|anziché|fuori",
    r"(?:indipendent\w+|divers\w|distint\w|separat\w) da\w*",
)
# Deny where they follow the data of which they are said: "the test set was opened later".
DENIED_AFTER = (
    r"un(?:touched|seen|used|opened)|sealed|locked away|set aside|held back|withheld|later|subsequently",
    r"afterwards|thereafter|follow(?:ed|s)|kept (?:aside|apart|back|away)",
    r"unberührt|ungesehen|ungeöffnet|unangetastet|verblindet|später|anschließend|danach|zurückgehalten",
    r"ensuite|ultérieurement|intacte?s?|scellée?s?|plus tard",
    r"successivamente|intatt\w|sigillat\w|in seguito|dopo",
)
CHOSEN = (
    r"chosen|chose|choos\w+|choice|select\w+|tuned?|optim\w+|maximi[sz]\w+|maximum|minimi[sz]\w+|best|highest",
    r"largest|youden\w*|determin\w+|deriv(?:ed|es|ing)|fit(?:s|ted|ting)?|adjust\w+|estimated|found|identified",
    r"picked|computed|calculated|obtained|from|based|according|taken|learn(?:ed|t)|established|defined|fixed",
    r"(?:re-?)?calibrated|re-?tuned|roc|f1|(?:was|were|is|been|to) set|set (?:at|to|by|so|such)",
    r"gewählt\w*|ausgewählt\w*|ausgesucht\w*|bestimm\w+|festgelegt\w*|optim\w+|maxim\w+|höchste\w*|größte\w*",
    r"beste\w*|angepasst\w*|abgeleitet\w*|ermittelt\w*|hergeleitet\w*|geschätzt\w*|berechnet\w*|justiert\w*",
    r"aus|gesetzt|wahl",
    r"choisi\w*|choix|sélectionn\w+|meilleure?s?|fixée?s?|déterminée?s?|définie?s?|estimée?s?|calculée?s?",
    r"ajustée?s?|dérivée?s?|obtenue?s?|issue?s?|plus élevée?|à partir",
    r"scelt\w|selezionat\w|ottim\w+|massim\w+|miglior\w*|fissat\w|determinat\w|definit\w|stimat\w|calcolat\w",
    r"derivat\w|ottenut\w|stabilit\w|tarat\w|più alt\w|ricavat\w",
)
USED = (
    r"appl(?:ied|y|ies|ying)|evaluat(?:ed|es?|ing|ion)|us(?:ed?|ing)|assess\w*|test(?:ed|s)|verif\w+|confirm\w*",
    r"validat(?:ed?|es|ing)|transfer\w*|carried|reported|measured|kept|held|for|check(?:ed|s)?|monitored",
    r"deployed|locked|frozen|unchanged|run",
    r"angewandt\w*|angewendet\w*|geprüft\w*|getestet\w*|evaluiert\w*|ausgewertet\w*|bestätigt\w*|validiert\w*",
    r"übertragen\w*|übernommen\w*|für|eingesetzt\w*|verwendet\w*|unverändert",
    r"appliquée?s?|évaluée?s?|testée?s?|validée?s?|vérifiée?s?|confirmée?s?|utilisée?s?|reportée?s?|pour",
    r"inchangée?s?",
    r"applicat\w|valutat\w|testat\w|validat\w|convalidat\w|verificat\w|confermat\w|usat\w|utilizzat\w",
    r"impiegat\w|per|invariat\w",
)
CONTRAST = (r"but|yet|sondern|aber|mais|bensì|ma",)
JOINT = (
    r"and|then|plus|as well as|because|since|while|whereas|und|dann|sowie|weil|während|wobei",
    r"et|puis|ainsi que|car|qui|ed?|poi|nonché|perché|mentre",
)
KINDS: Mapping[str, Sequence[str]] = {
    "internal_test": OF_INTERNAL_TEST,
    "tested": TESTED,
    "making": OF_MAKING,
    "not_only": NOT_ONLY,
    "denied": DENIED,
    "denied_after": DENIED_AFTER,
    "source": SOURCE,
    "chosen": CHOSEN,
    "used": USED,
    "contrast": CONTRAST,
    "joint": JOINT,
}
ENDS = {"sentence": r"\.(?!\d)|[;:()\[\]!?\n—–]|(?<= )-(?= )", "comma": r",(?!\d)|[/&+]"}
SHORT = 2  # characters of a name that is a word of its own only beside what it is the name of
BESIDE = (
    r"(?:site|cent(?:re|er)|hospital|set|cohort|data ?set|standort|zentrum|klinik|datensatz|centre"
    r"|hôpital|jeu"
    r"|sito|centro|ospedale)"
)


def _any(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


WORDS = "|".join(rf"(?P<{kind}>(?<!\w)(?:{_any(patterns)})(?!\w))" for kind, patterns in KINDS.items())
READER = re.compile("|".join([WORDS, *(f"(?P<{kind}>{pattern})" for kind, pattern in ENDS.items())]))
VERBS = ("chosen", "used", "denied")
ON_DATA = ("tested", "internal_test", "named")


@dataclass(frozen=True, slots=True)
class OriginWord:
    """A word of a kind that matters; of a data set or site that tests the threshold, the name of the set."""

    kind: str
    dataset: str = ""


@dataclass(frozen=True, slots=True)
class ChosenOn:
    """The data that test a threshold on which it was chosen.

    `names` are data sets that are named; `tested` and `internal_test` are true where the test data, or the
    internal test data, are spoken of without a name.
    """

    names: frozenset[str] = frozenset()
    tested: bool = False
    internal_test: bool = False


def read_origin(text: str, tested: Mapping[str, Iterable[str]], making: Iterable[str] = ()) -> ChosenOn:
    """The data that test a threshold on which its origin says that it was chosen.

    Parameters
    ----------
    text : the declared origin, in English, German, French or Italian
    tested : the data sets that test the threshold, each with its own name and those of its sites
    making : names of the data sets that the device was made from, and of their sites

    Examples
    --------
    >>> read_origin("Highest Youden index in the external validation cohort", {}).tested
    True
    >>> read_origin("Fixed on the tuning set before the test set was opened", {}).tested
    False
    """
    plain = " ".join(text.casefold().replace("’", "'").split())
    found: list[OriginWord] = []
    inherited = ""
    for clause, begins in _clauses(_tokens(plain, tested, making)):
        kinds = [token.kind for token in clause]
        if begins:
            inherited = ""
        elif "contrast" in kinds and inherited == "denied":
            inherited = "chosen"  # not on these, but on those
        found += [
            token
            for i, token in enumerate(clause)
            if token.kind in ON_DATA and _is_chosen(kinds[:i], kinds[i + 1 :], inherited)
        ]
        inherited = next((kind for kind in reversed(kinds) if kind in VERBS), inherited)
    return ChosenOn(
        frozenset(token.dataset for token in found if token.kind == "named"),
        any(token.kind == "tested" for token in found),
        any(token.kind == "internal_test" for token in found),
    )


def _tokens(text: str, tested: Mapping[str, Iterable[str]], making: Iterable[str]) -> Iterator[OriginWord]:
    """Words of a known kind in their order; names of data sets and sites come before all other words.

    A name that data of both kinds share says nothing against the threshold.
    """
    tokens = {name.casefold().strip(): OriginWord("making") for name in making}
    for dataset, names in tested.items():
        for name in names:
            tokens.setdefault(name.casefold().strip(), OriginWord("named", dataset))
    listed = sorted(filter(None, tokens), key=len, reverse=True)
    # A name that nothing matches, where there are none.
    spelled = _any(map(_spelled, listed)) or r"(?!)"
    own = re.compile(rf"(?:{spelled})(?!\w)(?!(?:'s)?[- ]{MADE})")
    at = 0
    while True:
        called = own.search(text, at)
        word = READER.search(text, at)
        if called and (word is None or called.start() < word.end()):
            yield tokens[next(name for name in listed if called[0].endswith(name))]
            at = called.end()
        elif word:
            yield OriginWord(str(word.lastgroup))
            at = word.end()
        else:
            return


def _spelled(name: str) -> str:
    """A name as a word of its own; one of a letter or two only after what it is the name of."""
    return (rf"(?<!\w){BESIDE} " if len(name) <= SHORT else r"(?<!\w)") + re.escape(name)


def _clauses(tokens: Iterable[OriginWord]) -> Iterator[tuple[list[OriginWord], bool]]:
    """The clauses of a text, and whether each begins a sentence."""
    clause: list[OriginWord] = []
    begins = True
    for token in tokens:
        if token.kind in ("sentence", "comma", "joint", "contrast"):
            yield clause, begins
            clause = [token] if token.kind == "contrast" else []
            begins = token.kind == "sentence"
        else:
            clause.append(token)
    yield clause, begins


def _is_chosen(before: Sequence[str], after: Sequence[str], inherited: str) -> bool:
    """Whether a clause says of test data that the threshold was chosen on them.

    `before` and `after` are the kinds of its words on either side of the data, `inherited` that of the last
    verb of the clause before it.
    """
    if "denied" in before:
        return False
    if _is_open(before):
        return True
    if "used" in before or ("chosen" in before and "making" in before):
        return False
    if "denied" in after or "denied_after" in after:
        return False
    if "chosen" in after or "used" in after:
        return "chosen" in after and "making" not in after
    return inherited not in ("denied", "used")


def _is_open(before: Sequence[str]) -> bool:
    """Whether something was chosen, and the data on which it was have not been named yet.

    The data may come before the verb, as in German. A source outside the data takes their place where a use
    follows it: "taken from the literature for this study".
    """
    is_open = ahead = sourced = False
    for kind in before:
        if kind == "chosen":
            is_open, ahead = is_open or not ahead, False
        elif kind == "making":
            is_open, ahead = False, not is_open
        elif kind == "source":
            sourced = is_open
        elif kind == "used" and sourced:
            is_open = False
    return is_open
