"""Every explorer says how the web edition shows it."""

import pytest
from explorers import EXPLORERS

from encoder_lib.course.kit.widget.web import Web


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_explorer_declares_its_page_in_the_web_edition(name):
    web = EXPLORERS[name]().web
    assert isinstance(web, Web) and len(web.heights) in (2, 3)
    assert all(200 < height < 2000 for height in web.heights)
