import type { KnownTool } from '#machines/mcp-server/known-tools.ts'
import { type McpServerContext, toolsOf } from '#machines/mcp-server/mcp-server.ts'
import type { Json } from '#specs/dsl/json.ts'
import type { ParseOwner } from '#src/parsing/parse-owner.ts'
import type { ScannedText, TextFinding, TextScan } from '../capability/text-scan.ts'
import { type ToolView, toolView } from './server-view.ts'

/** Maximum number of definitions whose findings are kept, and of those that are scanned at once. */
const limits = { kept: 20_000, atOnce: 100 } as const

const deepest = 12
const maxFields = 200

/**
 * Findings in the definitions of tools, which models read and their servers wrote. They follow from the definition
 * alone, so they are not stored: a new rule holds for tools that were discovered before it.
 */
export class ToolFindings {
  readonly #scan: TextScan
  /** By the hash of the definition. */
  readonly #known = new Map<string, readonly TextFinding[]>()

  constructor(scan: TextScan) {
    this.#scan = scan
  }

  /** Returns the tools of a server as the API returns them, with their findings. */
  async views(context: McpServerContext, owner: ParseOwner): Promise<readonly ToolView[]> {
    const tools = toolsOf(context)
    const found = new Map<string, readonly TextFinding[]>()
    const unknown = tools.filter(({ hash }) => !this.#known.has(hash))
    for (let first = 0; first < unknown.length; first += limits.atOnce) {
      const some = unknown.slice(first, first + limits.atOnce)
      const findings = await this.#scan(some.map(textOf), owner)
      for (const [index, { hash }] of some.entries()) {
        const own = findings[index] ?? []
        found.set(hash, own)
        if (!own.some(({ code }) => code === 'scan_failed')) this.#keep(hash, own)
      }
    }
    return tools.map((tool) => toolView(tool, found.get(tool.hash) ?? this.#known.get(tool.hash) ?? []))
  }

  #keep(hash: string, findings: readonly TextFinding[]): void {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= limits.kept && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(hash, findings)
  }
}

/** Returns the texts of a definition: its description, and those of its parameters. */
const textOf = ({ name, description, input_schema, annotations }: KnownTool): ScannedText => {
  const fields = [
    { path: 'name', text: name },
    { path: 'description', text: description },
    ...stringsIn(input_schema, 'input_schema', 0),
    ...stringsIn(annotations, 'annotations', 0),
  ]
  return { fields: fields.filter(({ text }) => text.length > 3).slice(0, maxFields) }
}

const stringsIn = (value: Json | undefined, path: string, depth: number): ScannedText['fields'] => {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null || depth > deepest) return []
  if (Array.isArray(value)) return value.flatMap((each, index) => stringsIn(each, `${path}[${index}]`, depth + 1))
  return Object.entries(value).flatMap(([key, each]) => stringsIn(each, `${path}.${key}`, depth + 1))
}
