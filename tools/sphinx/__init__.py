"""The extensions that Sphinx loads to build the site; `_config.yml` lists them."""
