"""Measurement reports of DICOM (TID 1500) as highdicom 0.28.2 with pydicom 3.0.2 writes them.

``python tests/reference/measurement_report.py`` writes measurement_report.dcm.
"""

from pathlib import Path

import highdicom as hd
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sr.codedict import codes
from pydicom.uid import ExplicitVRLittleEndian


def report(folder: Path, case: str, who: str, groups: list[dict[str, float]], truth: str = "") -> Path:
    """A measurement report (TID 1500) as highdicom writes it: a device's, or a reader's of the name `who`."""
    image = Dataset()
    image.file_meta = FileMetaDataset()
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    image.SOPClassUID, image.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.1.1", hd.UID()
    image.StudyInstanceUID, image.SeriesInstanceUID, image.Modality = hd.UID(), hd.UID(), "DX"
    image.PatientID, image.PatientName, image.PatientBirthDate, image.PatientSex = f"P-{case}", "", "", "O"
    image.AccessionNumber, image.StudyID, image.ReferringPhysicianName = case, "", ""
    image.StudyDate, image.StudyTime = "20260302", "093000"

    if who == "device":
        uid = hd.sr.DeviceObserverIdentifyingAttributes(uid=hd.UID(), name="Device 2.1")
        observer = hd.sr.ObserverContext(observer_type=codes.DCM.Device, observer_identifying_attributes=uid)
    else:
        person = hd.sr.PersonObserverIdentifyingAttributes(name=who)
        observer = hd.sr.ObserverContext(
            observer_type=codes.DCM.Person, observer_identifying_attributes=person
        )
    concepts = {
        "AI score": hd.sr.CodedConcept("score", "99TEST", "AI score"),
        "Diameter": hd.sr.CodedConcept("81827009", "SCT", "Diameter"),
        "Reference standard": hd.sr.CodedConcept("truth", "99TEST", "Reference standard"),
    }
    units = {"AI score": codes.UCUM.NoUnits, "Diameter": codes.UCUM.Millimeter}
    sites = [codes.SCT.Lung, codes.SCT.Liver]
    measured = [
        hd.sr.MeasurementsAndQualitativeEvaluations(
            source_images=[
                hd.sr.SourceImageForMeasurementGroup(
                    referenced_sop_class_uid=image.SOPClassUID,
                    referenced_sop_instance_uid=image.SOPInstanceUID,
                )
            ],
            tracking_identifier=hd.sr.TrackingIdentifier(uid=hd.UID(), identifier=f"finding {k}"),
            finding_sites=[hd.sr.FindingSite(anatomic_location=sites[k])],
            measurements=[
                hd.sr.Measurement(name=concepts[name], value=value, unit=units[name])
                for name, value in group.items()
            ],
            qualitative_evaluations=[
                hd.sr.QualitativeEvaluation(
                    name=concepts["Reference standard"],
                    value=hd.sr.CodedConcept(truth, "99TEST", truth),
                )
            ]
            if truth
            else None,
        )
        for k, group in enumerate(groups)
    ]
    content = hd.sr.MeasurementReport(
        observation_context=hd.sr.ObservationContext(observer_person_context=observer)
        if who != "device"
        else hd.sr.ObservationContext(observer_device_context=observer),
        procedure_reported=hd.sr.CodedConcept("168537006", "SCT", "Plain radiography"),
        imaging_measurements=measured,
    )
    written = hd.sr.ComprehensiveSR(
        evidence=[image],
        content=content,
        series_instance_uid=hd.UID(),
        series_number=1,
        sop_instance_uid=hd.UID(),
        instance_number=1,
        manufacturer="Test",
    )
    file = folder / f"{case}-{who}.dcm"
    written.save_as(file)
    return file


if __name__ == "__main__":
    made = report(Path(__file__).parent, "A1", "device", [{"Diameter": 12.5}, {"Diameter": 7.0}])
    made.rename(Path(__file__).with_suffix(".dcm"))
