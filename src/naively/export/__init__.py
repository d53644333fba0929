"""A model as plain data, SQL or ONNX, to score rows where they are."""
