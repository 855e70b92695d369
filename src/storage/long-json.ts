import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Json } from './ports.ts'

/** Number of characters of a text that are encoded in one go: half a millisecond. */
const pieceLength = 128 * 1024

/**
 * `JSON.stringify`, over several loop turns where a text is so long that it would block other requests: 7 MB take 50
 * ms.
 */
export const jsonOf = (value: Json): string | Promise<string> =>
  hasLongText(value) ? jsonInTurns(value) : JSON.stringify(value)

/** Checked for each written row, so it allocates nothing. */
const hasLongText = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return value.length > pieceLength
  if (Array.isArray(value)) return value.some(hasLongText)
  if (isObject(value)) for (const name in value) if (hasLongText(value[name])) return true
  return false
}

/** Output of the serialisation, and the arrays and objects that contain a long text. */
interface Writing {
  readonly parts: string[]
  readonly holders: ReadonlySet<Json>
}

/** Serialises like `JSON.stringify`, with other work between the pieces of long texts. */
const jsonInTurns = async (value: Json): Promise<string> => {
  const parts: string[] = []
  const holders = new Set<Json>()
  addHolders(value, holders)
  await write(value, { parts, holders })
  return parts.join('')
}

/**
 * Collects the containers of long texts, visiting every value once.
 *
 * @returns whether the value is, or contains, a long text.
 */
const addHolders = (value: Json | undefined, holders: Set<Json>): boolean => {
  if (typeof value === 'string') return value.length > pieceLength
  if (typeof value !== 'object' || value === null) return false
  let holds = false
  for (const each of Object.values(value)) if (addHolders(each, holders)) holds = true
  if (holds) holders.add(value)
  return holds
}

const write = async (value: Json | undefined, writing: Writing): Promise<void> => {
  const { parts, holders } = writing
  if (typeof value === 'string' && value.length > pieceLength) await writeText(value, parts)
  else if (value === undefined || !holders.has(value)) parts.push(JSON.stringify(value ?? null))
  else if (Array.isArray(value)) await writeList(value, writing)
  else if (isObject(value)) await writeObject(value, writing)
}

const isObject = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const writeList = async (list: readonly Json[], writing: Writing): Promise<void> => {
  for (const [at, each] of list.entries()) {
    writing.parts.push(at === 0 ? '[' : ',')
    await write(each, writing)
  }
  writing.parts.push(']')
}

const writeObject = async (object: Readonly<Record<string, Json | undefined>>, writing: Writing): Promise<void> => {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    writing.parts.push(`${before}${JSON.stringify(name)}:`)
    before = ','
    await write(value, writing)
  }
  writing.parts.push('}')
}

/** Writes a text in pieces without splitting a surrogate pair: half of one would be written as an escape. */
const writeText = async (text: string, parts: string[]): Promise<void> => {
  parts.push('"')
  for (let at = 0; at < text.length; ) {
    const max = at + pieceLength
    const cut = max < text.length && isHigh(text.charCodeAt(max - 1)) ? max - 1 : max
    parts.push(JSON.stringify(text.slice(at, cut)).slice(1, -1))
    at = cut
    await nextTurn()
  }
  parts.push('"')
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
