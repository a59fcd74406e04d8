"""Whether a review was written by a model: detectors, their thresholds, and how good they are."""
