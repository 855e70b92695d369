"""Skips ids not in normalization form C: the server refuses them as look-alikes, which no pattern can express."""

from unicodedata import is_normalized
from urllib.parse import unquote

import schemathesis


def _is_in_form_c(values):
    texts = (value for value in (values or {}).values() if isinstance(value, str))
    return all(is_normalized("NFC", unquote(text)) for text in texts)


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    return _is_in_form_c(path_parameters)


@schemathesis.hook
def filter_query(context, query):
    return _is_in_form_c(query)
