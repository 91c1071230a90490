# SPDX-License-Identifier: Apache-2.0
# The wings of models/: folders with a README.md.
file(GLOB trn_wings CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/models ${CMAKE_SOURCE_DIR}/models/*/README.md)
list(TRANSFORM trn_wings REPLACE "/README.md$" "")
