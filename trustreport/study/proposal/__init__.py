"""A manifest proposed from tables: which column is what, what its values mean, which arms there are.

Nothing is computed. What the words of a table do not settle is a `Doubt`: somebody is asked, or the likeliest
answer is taken and marked.
"""

from trustreport.study.proposal.attempts import write_proposal
from trustreport.study.proposal.files import propose
from trustreport.study.proposal.manifest import text
from trustreport.study.proposal.parts import Choose, Doubt, Proposal, spellings, squeezed, vocabulary

__all__ = [
    "Choose",
    "Doubt",
    "Proposal",
    "propose",
    "spellings",
    "squeezed",
    "text",
    "vocabulary",
    "write_proposal",
]
