import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Json } from './ports.ts'

/** Characters of a text that are encoded at once: half a millisecond. */
const pieceLength = 128 * 1024

/** `JSON.stringify`, in turns where a text is so long that it would hold every other request up: 7 MB take 50 ms. */
export const jsonOf = (value: Json): string | Promise<string> =>
  hasLongText(value) ? jsonInTurns(value) : JSON.stringify(value)

/** Each row that is written is looked at: nothing is made for that. */
const hasLongText = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return value.length > pieceLength
  if (Array.isArray(value)) return value.some(hasLongText)
  if (isObject(value)) for (const name in value) if (hasLongText(value[name])) return true
  return false
}

/** What `JSON.stringify` makes of a value, with other work between the pieces of its long texts. */
const jsonInTurns = async (value: Json): Promise<string> => {
  const parts: string[] = []
  await write(value, parts)
  return parts.join('')
}

const write = async (value: Json | undefined, parts: string[]): Promise<void> => {
  if (typeof value === 'string' && value.length > pieceLength) await writeText(value, parts)
  else if (Array.isArray(value) && hasLongText(value)) await writeList(value, parts)
  else if (isObject(value) && hasLongText(value)) await writeObject(value, parts)
  else parts.push(JSON.stringify(value ?? null))
}

const isObject = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const writeList = async (list: readonly Json[], parts: string[]): Promise<void> => {
  for (const [at, each] of list.entries()) {
    parts.push(at === 0 ? '[' : ',')
    await write(each, parts)
  }
  parts.push(']')
}

const writeObject = async (object: Readonly<Record<string, Json | undefined>>, parts: string[]): Promise<void> => {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    parts.push(`${before}${JSON.stringify(name)}:`)
    before = ','
    await write(value, parts)
  }
  parts.push('}')
}

/** Cut where no pair of surrogates is: half of one would be written as its number. */
const writeText = async (text: string, parts: string[]): Promise<void> => {
  parts.push('"')
  for (let at = 0; at < text.length; ) {
    const most = at + pieceLength
    const cut = most < text.length && isHigh(text.charCodeAt(most - 1)) ? most - 1 : most
    parts.push(JSON.stringify(text.slice(at, cut)).slice(1, -1))
    at = cut
    await nextTurn()
  }
  parts.push('"')
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
