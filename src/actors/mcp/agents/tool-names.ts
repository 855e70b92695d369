import { createHash } from 'node:crypto'

/** A tool for which a name is needed that models can use. */
export interface NamedTool {
  readonly server: string
  readonly serverId: string
  readonly tool: string
}

const longest = 64
const hashLength = 8

/**
 * Returns the names by which models call tools: `<server>__<tool>` of letters, digits, `_` and `-`. A name that would
 * be too long or ambiguous ends with a hash of the server's id and the tool's name, so that no name depends on the
 * order of tools.
 */
export const modelNames = (tools: readonly NamedTool[]): readonly string[] => {
  const plain = tools.map(plainName)
  const counts = new Map<string, number>()
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  return tools.map((tool, index) => {
    const name = plain[index] ?? ''
    return name.length <= longest && counts.get(name) === 1 ? name : hashed(name, tool)
  })
}

const plainName = ({ server, tool }: NamedTool): string => `${slug(server) || 'server'}__${slug(tool)}`

const slug = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]{1,64}/g, '_')

const hashed = (name: string, { serverId, tool }: NamedTool): string => {
  const hash = createHash('sha256').update(`${serverId}/${tool}`).digest('hex').slice(0, hashLength)
  return `${name.slice(0, longest - hashLength - 1)}_${hash}`
}
