"""The origin of a threshold in free text: whether it says that it was chosen on the data that test it."""

import pytest

from trustreport.assessment.checks.threshold_origin import ChosenOn, read_origin

TESTED = {"ext": ("ext",), "Harbour": ("Harbour", "Lake Clinic"), "A": ("A",)}
MAKING = ("base", "Hill")
CHOSEN_HERE = """
tuned on this data
Highest Youden index in the external validation cohort
Youden's J, test set
External validation cohort
Chosen on the tuning and test sets
Chosen on the tuning set and the test set
test set
Optimal cut-off in Harbour
Optimised at Lake Clinic
Selected to maximise F1 when evaluated on the test set
Threshold maximising accuracy on the held-out set
Best operating point of the ROC curve of this study
Determined post hoc
In the test set, the threshold with the highest Youden index was used
The test set was used to choose the threshold
The external cohort was used to set it
Chosen after unblinding
Fitted to the data
Best F1 on the study population
Not only on the tuning set but also on the test set
Selected on the external cohort before the analysis
Derived from the ROC curve of the independent test cohort
An den Testdaten optimiert
Höchster Youden-Index in der externen Validierungskohorte
Der Schwellenwert wurde anhand der Testdaten bestimmt
Nachträglich an diesen Daten gewählt
Bester Schwellenwert in diesem Datensatz
Choisi sur les données de test
Indice de Youden maximal dans la cohorte de validation externe
Optimisé sur ce jeu de données
Seuil optimal de la présente étude
Scelta sui dati di test
Massimo indice di Youden nella coorte di validazione esterna
Ottimizzata su questi dati
Indice di Youden massimo nel set di test
Maximum of sensitivity plus specificity on ext
Taken from the validation study
Chosen by the manufacturer on the test set
Re-optimised on the external validation data
Threshold from the tuning set, re-tuned on the external set
Computed as the point closest to (0, 1) on the test-set ROC curve
Calculated from the scores of the present cohort
Adjusted after looking at the test data
Set at 90% sensitivity in the validation cohort
Cut-off at site A with the best accuracy
Best cut-off in the pivotal study
Chosen so that specificity on the external data is 90%
Youden-optimal on the evaluation set
the same cases on which it is tested: best Youden's J of these cases
Threshold with the highest F1 in the prospective validation
""".strip().splitlines()
ELSEWHERE = """
Fixed on the tuning set before the test set was opened
not on the test data
tuned on development data
fixed by manufacturer
fixed by each manufacturer
Chosen on the tuning set and applied unchanged to the external validation cohort
Chosen on the tuning set, then evaluated on the test set
Tuning set (test set untouched)
Fixed a priori and applied to the test set
Set at 95% sensitivity in the training data; the test data were not used
Chosen on the tuning set; the external validation set was opened later
The threshold was chosen on the development cohort, never on the test set
Determined without any use of the test data
Locked before the external cohort was collected
Prespecified at 0.5 for the test set
Taken from the literature for this study
Five-fold cross-validation within the training set
Chosen on the validation set
Internal validation data
In the test set the threshold chosen on the tuning set was applied
The external cohort was evaluated at the threshold chosen on the tuning set
Independent of the test data
Chosen on data that do not overlap with the test set
Youden's index on the development set, independent from the external validation cohort
Manufacturer's default
Youden's index on base
Tuned at Hill
Chosen on Harbour training data
0.5, the usual probability threshold
Clinical rule: refer from 3% risk on
Set at 95% sensitivity in the data used for training
Vor der Öffnung der Testdaten auf den Tuningdaten festgelegt
Auf dem Tuningset festgelegt, bevor die Testdaten geöffnet wurden
Nicht an den Testdaten gewählt
Der an den Entwicklungsdaten bestimmte Schwellenwert wurde an den Testdaten geprüft
Vom Hersteller vorab festgelegt
An den Trainingsdaten optimiert und auf die externe Kohorte angewandt
Fixé sur les données de développement avant l'ouverture des données de test
Choisi sur le jeu d'entraînement, pas sur les données de test
Seuil défini par le fabricant, appliqué à la cohorte externe
Optimisé sur l'ensemble de réglage puis évalué sur le jeu de test
Fissata sui dati di sviluppo prima dell'apertura dei dati di test
Scelta sul set di addestramento, non sui dati di test
Definita dal produttore e applicata alla coorte esterna
Chosen for the present study by the sponsor
Threshold of the earlier study, kept for the external cohort
Maximum Youden index on the tuning set, prior to any analysis of the test set
Frozen before unblinding
Development data; the test set was sealed until then
Optimised on training data rather than on the test data
Chosen by experts in the clinical evaluation plan
Selected on tuning data without looking at the held-out test set
Selected using tuning data only, with the external cohort kept aside
Fixed at 0.5 in the protocol, before data were opened
Fixed in the statistical analysis plan before the data were unblinded
Youden index, development cohort of 2019
Chosen on the tuning data only; no test case was seen
test data played no part
none of the test data was used
chosen before any test data had been collected
the external validation cohort had not been opened
pre-specified in the SAP
transferred unchanged from the tuning set to the external cohort
selected on the training set; performance on the test set is reported for it
Fixed in 2023 in the derivation cohort and then locked for the external validation
cost-benefit analysis of the manufacturer
the threshold in the instructions for use
threshold chosen on a tuning set from other hospitals than the test set
separate tuning set, no overlap with the test data
set by the clinical advisory board
95% sensitivity on the tuning set, verified on the external set
vor Studienbeginn festgelegt
in der Entwicklungsphase festgelegt; die Testdaten waren nicht bekannt
anhand der Tuningdaten gewählt, ohne Kenntnis der externen Kohorte
auf Trainingsdaten bestimmt und für die externe Validierung unverändert übernommen
choisi sur la cohorte de développement, sans accès aux données de test
seuil du fabricant, inchangé pour cette étude
déterminé par validation croisée sur l'ensemble d'apprentissage
fissata dal fabbricante prima dello studio
scelta sui dati di sviluppo; i dati di test non erano noti
determinata sul set di addestramento e poi applicata al set di test
Fixed when the tuning data were analysed, two months before the test set existed
The operating point was frozen prior to accessing the external test data
Selected on tuning data. The test set was held back.
Chosen for 90% sensitivity on the development data, as confirmed by an independent statistician
chosen with the development data; external validation followed
from the tuning set, not this data
tuned on development data, applied to ext
Youden's J on base, then carried over to Harbour and ext
Set in 2024 using the tuning cohort, one year ahead of the external validation
Given by the manufacturer; not adjusted to the local data
Youden index in the tuning set (threshold was not changed for the test set)
Chosen on the training data and confirmed in the validation cohort
The threshold derived from the training cohort was used in the test cohort
Literature value of 0.3
Fixed in the protocol
Chosen from the development data of three other hospitals
from the ROC curve of the tuning set, for a sensitivity of 95%; the test set had no influence
Threshold agreed with clinicians before the study
Derived from an earlier cohort, not from the one reported here
Vor Entblindung im Auswerteplan festgelegt
Nicht auf den externen Daten optimiert, sondern auf den Tuningdaten
Vom Hersteller; für die externe Kohorte nicht angepasst
Seuil retenu sur le jeu de réglage, sans regarder la cohorte externe
Seuil fixé dans le protocole
Non ottimizzata sui dati esterni ma sul set di taratura
Valore del fabbricante, non modificato per i dati di test
Fixed on the development set in advance of the test
Youden's J on tuning data collected before the test set
The value of the CE-marked version
""".strip().splitlines()


@pytest.mark.parametrize("text", CHOSEN_HERE)
def test_a_text_that_says_it_was_chosen_on_the_test_data(text: str) -> None:
    assert read_origin(text, TESTED, MAKING) != ChosenOn()
    assert read_origin(text.upper(), TESTED, MAKING) != ChosenOn(), "capitals do not matter"


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_text_that_denies_it_or_names_other_data_is_no_evidence(text: str) -> None:
    assert read_origin(text, TESTED, MAKING) == ChosenOn()


def test_data_sets_and_sites_are_known_by_their_names() -> None:
    assert read_origin("best accuracy at Lake Clinic", TESTED) == ChosenOn(frozenset({"Harbour"}))
    assert read_origin("best accuracy in ext and in Harbour", TESTED).names == {"ext", "Harbour"}
    # A site of both kinds of data says nothing against it; nor does a name within a word.
    assert read_origin("tuned at Lake Clinic", TESTED, ["Lake Clinic"]) == ChosenOn()
    assert read_origin("tuned to the next extreme", TESTED) == ChosenOn()
    # A name of a letter or two is one only beside what it is the name of.
    assert read_origin("chosen at a rate of 5%", TESTED) == ChosenOn()
    assert read_origin("chosen at site A", TESTED).names == {"A"}
    # Names come before words: what is called a validation set is most often of the development.
    assert read_origin("tuned on the validation set", {}) == ChosenOn()
    assert read_origin("tuned on the validation set", {"validation": ["validation"]}).names == {"validation"}
    assert read_origin("tuned on the test set", {}, ["test set"]) == ChosenOn()


def test_the_internal_test_set_is_apart_from_the_others() -> None:
    assert read_origin("Youden's J on the internal test set", {}) == ChosenOn(internal_test=True)
    assert read_origin("not on the internal test set", {}) == ChosenOn()


def test_an_empty_text_says_nothing() -> None:
    assert read_origin("", TESTED, MAKING) == ChosenOn()
