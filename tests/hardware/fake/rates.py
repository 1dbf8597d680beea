"""What PyTorch would reach on a GPU of tests/fake/cuda."""

import json

rates = {"bfloat16_tflops": 700, "float32_tflops": 50, "float64_tflops": 25, "copy_gbs": 2400}
rates.update(to_device_pinned_gbs=52, to_host_pinned_gbs=54, to_device_pageable_gbs=9)
print(json.dumps(rates))
