"""SQL in: text and schemas to Substrait JSON, through DataFusion's parser and logical optimiser."""
