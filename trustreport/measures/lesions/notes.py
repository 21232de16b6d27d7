"""Why a measure of localisation, or its interval, is missing: fixed fragments."""

NO_LESION = "no case has a lesion"
NO_CASE_WITHOUT = "every case has a lesion: there is no case on which all marks are false"
ONE_CASE = "fewer than two cases with a lesion, or without one: no interval"
NOT_REACHED = "so many false marks a case were not made: the sensitivity of all marks"
ALL_ALIKE = "nothing varies between cases: the interval counts cases with lesions as independent"
AT_THE_END = "every pair of a lesion and a case without one counts alike: the interval counts cases"
NO_FALSE_MARK = "no false mark: upper limit of a Poisson count"
