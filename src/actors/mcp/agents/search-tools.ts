import type { ServerTool, ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { isObject } from '#runtime/index.ts'
import { maxShownTools } from '#specs/resources/mcp/mcp-limits.ts'

const name = 'search_tools'
const maxFound = 8
const summaryLength = 300

/**
 * Returns the tools as they are offered. When there are many, they are deferred until a search finds them, since models
 * choose poorly among hundreds of tools.
 */
export const withSearch = (tools: readonly ServerTool[]): readonly ServerTool[] => {
  if (tools.length <= maxShownTools) return tools
  const listed = tools.map((tool) => [tool.name, tool.description.slice(0, summaryLength)])
  const search: ServerTool = {
    ...{ type: 'server', name, resource: 'mcp_servers', effect: 'idempotent' },
    description: `Finds tools among ${tools.length} that are not listed here. What it finds can be called afterwards.`,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Words for what the tool should do.' } },
      required: ['query'],
    },
    settings: { search: listed },
  }
  return [search, ...tools.map((tool) => ({ ...tool, deferred: true }) as const)]
}

/** Returns the tools that match a query best. */
export const searchTools = ({ tool, arguments: given }: ServerToolCall): ToolOutcome => {
  const query = isObject(given) && typeof given.query === 'string' ? given.query : ''
  const words = wordsOf(query)
  if (words.length === 0)
    return { ok: false, code: 'invalid_field', message: 'The argument query says what to look for.' }
  const listed = Array.isArray(tool.settings.search) ? tool.settings.search : []
  const scored = listed.flatMap((each) => {
    const [found = '', description = ''] = Array.isArray(each) ? each.map(String) : []
    const score = scoreOf(words, wordsOf(found), wordsOf(description))
    return score > 0 ? [{ score, name: found, description }] : []
  })
  const best = scored.toSorted((a, b) => b.score - a.score).slice(0, maxFound)
  return {
    ok: true,
    output: JSON.stringify({ found_tools: best.map(({ name, description }) => ({ name, description })) }),
  }
}

const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)

const nameWeight = 3

const scoreOf = (query: readonly string[], names: readonly string[], description: readonly string[]): number =>
  query.reduce((sum, word) => sum + nameWeight * hits(word, names) + hits(word, description), 0)

const hits = (word: string, text: readonly string[]): number =>
  text.some(
    (each) => each === word || (word.length > 3 && each.startsWith(word)) || (each.length > 3 && word.startsWith(each)),
  )
    ? 1
    : 0
