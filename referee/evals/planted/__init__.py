"""Which planted errors a review names: places, content rules, verdicts, and the shares that follow from them."""
