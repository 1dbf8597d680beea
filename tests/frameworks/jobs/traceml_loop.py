"""The loop of plain.py with the lines that TraceML's page asks for."""

import torch
import traceml_ai as traceml
from options import options
from samples import Beside, Model, Samples, tell

a = options()

traceml.init(mode="auto")
torch.manual_seed(a.seed)
loader = torch.utils.data.DataLoader(
    Samples(8 * a.steps, a), batch_size=8, shuffle=True, num_workers=a.workers
)
model = Model(a.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
beside = Beside(a)
for batch in loader:
    with traceml.trace_step(model):
        optimizer.zero_grad()
        model(**batch)["loss"].backward()
        optimizer.step()
    beside.step()
    if folder := beside.saves():
        torch.save({"model": model.state_dict()}, folder + "/last.pt")
tell(model, a.steps)
