/** Numbers of fields in the ONNX format: of a model, a graph, a node, a tensor, and of the description of a value. */
const modelField = { graph: 7 } as const
const graphField = { node: 1, initializer: 5, input: 11, output: 12, valueInfo: 13 } as const
const nodeField = { input: 1, output: 2 } as const
const tensorName = 8
const valueField = { name: 1, type: 2, tensorType: 1, elementType: 1, float: 1 } as const
/** Types of a field: a number, and bytes with their length before them. */
const [number, bytesOf] = [0, 2]
const decoder = new TextDecoder()

interface Field {
  readonly at: number
  /** The whole field, and what it holds if that is bytes. */
  readonly whole: Uint8Array
  readonly bytes: Uint8Array
}

export interface ModelPart {
  /** Inner values that it is given, besides the inputs of the model. */
  readonly given: readonly string[]
  /** Inner values that it returns; all of floating point numbers. */
  readonly wanted: readonly string[]
  /** Whether it returns the outputs of the model too. */
  readonly isTop: boolean
}

/**
 * Returns a part of an ONNX model, with the nodes and weights that make what it returns.
 *
 * @throws {Error} when bytes are no model in this format.
 */
export const partOf = (model: Uint8Array, part: ModelPart): Uint8Array =>
  Buffer.concat(
    [...fieldsOf(model)].map((each) =>
      each.at === modelField.graph ? field(modelField.graph, graphOf(each.bytes, part)) : each.whole,
    ),
  )

function graphOf(graph: Uint8Array, { given, wanted, isTop }: ModelPart): Uint8Array {
  const fields = [...fieldsOf(graph)]
  const own = fields.filter(({ at }) => at === graphField.output).map((each) => nameIn(each, valueField.name))
  const outputs = isTop ? [...own, ...wanted] : wanted
  const needed = new Set(outputs)
  const kept = new Set<Field>()
  for (const node of fields.filter(({ at }) => at === graphField.node).reverse()) {
    const values = [...fieldsOf(node.bytes)]
    const isMade = (each: Field): boolean => each.at === nodeField.output && needed.has(textOf(each))
    if (!values.some((each) => isMade(each) && !given.includes(textOf(each)))) continue
    kept.add(node)
    for (const each of values) if (each.at === nodeField.input) needed.add(textOf(each))
  }
  const isKept = (each: Field): boolean => {
    if (each.at === graphField.node) return kept.has(each)
    if (each.at === graphField.initializer) return needed.has(nameIn(each, tensorName))
    if (each.at === graphField.input) return needed.has(nameIn(each, valueField.name))
    return (
      each.at !== graphField.valueInfo &&
      (each.at !== graphField.output || outputs.includes(nameIn(each, valueField.name)))
    )
  }
  return Buffer.concat([
    ...fields.filter(isKept).map(({ whole }) => whole),
    ...given.map((value) => field(graphField.input, described(value))),
    ...wanted.filter((value) => !own.includes(value)).map((value) => field(graphField.output, described(value))),
  ])
}

const textOf = ({ bytes }: Field): string => decoder.decode(bytes)

function nameIn({ bytes }: Field, at: number): string {
  for (const each of fieldsOf(bytes)) if (each.at === at) return textOf(each)
  return ''
}

/** The description of a value of floating point numbers in any shape. */
function described(value: string): Uint8Array {
  const tensor = field(valueField.tensorType, Buffer.from([(valueField.elementType << 3) | number, valueField.float]))
  return Buffer.concat([field(valueField.name, Buffer.from(value)), field(valueField.type, tensor)])
}

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0
  while (at < bytes.length) {
    const start = at
    const key = varint(bytes, at)
    at = key.end
    const type = key.value % 8
    if (type === number) at = varint(bytes, at).end
    else if (type === bytesOf) {
      const length = varint(bytes, at)
      at = length.end + length.value
      yield { at: Math.floor(key.value / 8), whole: bytes.subarray(start, at), bytes: bytes.subarray(length.end, at) }
      continue
    } else if (type === 5) at += 4
    else if (type === 1) at += 8
    else throw new Error(`a field of type ${type} in a model`)
    yield { at: Math.floor(key.value / 8), whole: bytes.subarray(start, at), bytes: new Uint8Array(0) }
  }
  if (at !== bytes.length) throw new Error('a model that ends in the middle')
}

function varint(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let [value, factor, at] = [0, 1, from]
  for (;;) {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('a model that ends in the middle')
    value += (byte % 128) * factor
    if (byte < 128) return { value, end: at }
    factor *= 128
  }
}

function field(at: number, bytes: Uint8Array): Uint8Array {
  const head: number[] = []
  for (let left of [at * 8 + bytesOf, bytes.length]) {
    for (; left >= 128; left = Math.floor(left / 128)) head.push((left % 128) + 128)
    head.push(left)
  }
  return Buffer.concat([Buffer.from(head), bytes])
}
