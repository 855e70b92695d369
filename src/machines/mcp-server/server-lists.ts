/** A resource that a server lists, which can be read by its URI. Texts are the server's own. */
export type ListedResource = {
  readonly uri: string
  readonly name: string
  readonly description: string | null
  readonly mime_type: string | null
}

/** A resource template that a server lists (RFC 6570). */
export type ListedTemplate = {
  readonly uri_template: string
  readonly name: string
  readonly description: string | null
  readonly mime_type: string | null
}

/** A prompt that a server lists, and its arguments. */
export type ListedPrompt = {
  readonly name: string
  readonly description: string | null
  readonly arguments: readonly {
    readonly name: string
    readonly description: string | null
    readonly required: boolean
  }[]
}

/** Discovered resources, templates and prompts of a server. */
export type ServerLists = {
  readonly resources: readonly ListedResource[]
  readonly resource_templates: readonly ListedTemplate[]
  readonly prompts: readonly ListedPrompt[]
  /** Number of entries that were dropped: too many, too long, or with text that is invisible to people. */
  readonly left_out: number
  /** Lists that the server announces but failed to return. */
  readonly unread: readonly string[]
}

/** Lists of a server that has none of these. */
export const noLists: ServerLists = { resources: [], resource_templates: [], prompts: [], left_out: 0, unread: [] }
