"""What those raise who are asked to change a setting and leave it as it is."""


class Refused(Exception):
    """Nothing was changed; the text is the reason, one plain sentence."""
