/** Field numbers and types of the ONNX format: a model has a graph, which has outputs with names and types. */
const [graph, output, name, type, tensorType, elementType, float] = [7, 12, 1, 2, 1, 1, 1]
const [bytesOf, number] = [2, 0]

/**
 * Returns the bytes of an ONNX model that also returns one of its inner values, of floating point numbers. Models are
 * protocol buffers, of which two that follow each other count as one with the fields of both.
 */
export function withOutput(model: Uint8Array, value: string): Uint8Array {
  const tensor = field(tensorType, field(elementType, null, float))
  const info = Buffer.concat([field(name, Buffer.from(value)), field(type, tensor)])
  return Buffer.concat([model, field(graph, field(output, info))])
}

/** A field with bytes shorter than 128, or with a number below 128. */
function field(at: number, bytes: Buffer | null, value = 0): Buffer {
  if (bytes === null) return Buffer.from([(at << 3) | number, value])
  if (bytes.length > 127) throw new Error(`the name of an output is too long: ${bytes.length} bytes`)
  return Buffer.concat([Buffer.from([(at << 3) | bytesOf, bytes.length]), bytes])
}
