"""What the publisher wrote for machines: structure tags, form template and fields, destinations, links."""
