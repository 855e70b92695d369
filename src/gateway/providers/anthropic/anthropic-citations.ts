import { arrayOf, countOf, isObject, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Field of a part of a chat request that is a block of Anthropic's format, for what a text alone does not have; `more`:
 * the part continues the content of the block before. Other formats get the text.
 */
export const ownBlockField = 'anthropic_block'

/**
 * Whether a block is of a tool that Anthropic itself runs: Anthropic requires it back, and no other provider can read
 * it.
 */
export const isOwnTool = ({ type }: WireObject): boolean =>
  /^(?:server_tool_use|mcp_tool_use|container_upload|\w+_tool_result)$/.test(textOf(type))

/**
 * Whether a block is one of an answer that goes back as it came: what a model thought, a summary that replaces what
 * precedes it, or what Anthropic's own tools did.
 */
export const isThought = (block: WireObject): boolean =>
  block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === 'compaction' || isOwnTool(block)

/** Field of a chat request with such parts, so that only such requests are searched for them. */
export const ownPartsField = 'anthropic_parts'

/**
 * Returns the fields of a delta for the citations of a text: all of them as Anthropic's with the place of the text in the
 * message, in UTF-16 units, and those of addresses as OpenAI's annotations too. Clients know no other annotations.
 */
export const citedText = (given: readonly unknown[], start_index: number, end_index: number): WireObject => {
  const citations = given.filter(isObject).map((citation) => ({ ...citation, start_index, end_index }))
  const annotations = citations.flatMap(annotationOf)
  return { citations, ...(annotations.length > 0 && { annotations }) }
}

const annotationOf = ({ url, source, title, start_index, end_index }: WireObject): readonly WireObject[] => {
  const address = textOf(url) || textOf(source)
  if (!/^https?:\/\//i.test(address)) return []
  return [{ type: 'url_citation', url_citation: { start_index, end_index, url: address, title: textOf(title) } }]
}

/** Whether a citation is not among the annotations of its text, as it has no address. */
export const isOfDocument = (citation: WireObject): boolean => annotationOf(citation).length === 0

/**
 * Splits the text of a message at its citations, and puts what came between the texts in its place: thoughts, and blocks
 * of Anthropic's own tools, which have `start_index` if a text precedes them.
 */
export const contentBlocks = (
  text: string,
  citations: readonly unknown[],
  thoughts: readonly WireObject[],
): readonly WireObject[] => {
  const given = citations.filter(isObject)
  const places = [...given.flatMap((each) => [each.start_index, each.end_index]), ...thoughts.map(placeOf)]
  const cuts = new Set([0, ...places.map(countOf).filter((place) => place < text.length), text.length])
  // each citation is of one block, its last: callers send these too, and each could be of every block
  const cited = Map.groupBy(given, ({ end_index }) => Math.min(countOf(end_index), text.length))
  const blocks: WireObject[] = []
  let next = 0
  const upTo = (place: number): void => {
    for (; next < thoughts.length && placeOf(thoughts[next] ?? {}) <= place; next++)
      blocks.push(unplaced(thoughts[next] ?? {}))
  }
  const ends = [...cuts].sort((a, b) => a - b)
  for (const [at, from] of ends.entries()) {
    const to = ends[at + 1]
    upTo(to === undefined ? Number.POSITIVE_INFINITY : from)
    if (to !== undefined && to > from) blocks.push(textOfSpan(text, cited, { from, to }))
  }
  return blocks
}

const textOfSpan = (
  text: string,
  cited: ReadonlyMap<number, readonly WireObject[]>,
  { from, to }: { readonly from: number; readonly to: number },
): WireObject => {
  const own = (cited.get(to) ?? []).filter((each) => countOf(each.start_index) <= from)
  const block = { type: 'text', text: text.slice(from, to) }
  return own.length === 0 ? block : { ...block, citations: own.map(unplaced) }
}

const placeOf = ({ start_index }: WireObject): number => countOf(start_index)

/** Returns a citation or a block as Anthropic's format has it. */
export const unplaced = ({ start_index: _start, end_index: _end, ...own }: WireObject): WireObject => own

/** The citations of a part or a block, as Anthropic's format has them; nothing for none. */
export const citationsOf = ({ citations }: WireObject): WireObject => {
  const given = ownCitations(citations)
  return given.length === 0 ? {} : { citations: given }
}

/** Returns the citations that Anthropic made, which it takes back: those of other models have no index. */
export const ownCitations = (citations: unknown): readonly unknown[] =>
  arrayOf(citations).filter((each) => !isObject(each) || each.encrypted_index !== '')
