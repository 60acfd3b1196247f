/**
 * One training run, written once and run in Node and in a page: plain JavaScript, because a browser loads it as it is.
 * The engine's modules come in as arguments, since the two find them at different addresses.
 */
export function trainSmallNetwork({ base, tensor, wasm, updates }) {
  const kernels = tensor.wasmKernels(wasm);
  const { memory } = kernels;
  const rows = 32;
  const rng = base.seededRng(20);
  const net = tensor.buildNetwork(kernels, {
    layers: [tensor.dense(3, 32, "tanh"), tensor.dense(32, 32, "relu"), tensor.dense(32, 1)],
    batch: rows,
    rng: rng.fork("network"),
  });
  const optimiser = tensor.adam(kernels, { params: net.params, count: net.paramCount, lr: 3e-3 });
  const target = memory.alloc(rows);
  const gradient = memory.alloc(rows);
  const draw = rng.fork("data");
  const losses = [];
  for (let update = 0; update < updates; update++) {
    const x = memory.view(net.input, rows * 3);
    const y = memory.view(target, rows);
    for (let row = 0; row < rows; row++) {
      const [a, b, c] = [draw.next() * 2 - 1, draw.next() * 2 - 1, draw.next() * 2 - 1];
      x.set([a, b, c], row * 3);
      y[row] = a * b - c * c;
    }
    const prediction = net.forward(rows);
    losses.push(tensor.mseLoss(memory, { prediction, target, gradient, rows, cols: 1 }));
    net.zeroGrads();
    net.backward(rows, gradient);
    tensor.clipGradNorm(kernels, { grads: net.grads, count: net.paramCount, max: 1 });
    optimiser.step(net.grads);
  }
  return { losses, parameters: net.snapshot() };
}
