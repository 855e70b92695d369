/** A resource that a server lists: something to read by its URI. Texts are the server's own. */
export type ListedResource = {
  readonly uri: string
  readonly name: string
  readonly description: string | null
  readonly mime_type: string | null
}

/** A family of resources, whose URIs follow a template (RFC 6570). */
export type ListedTemplate = {
  readonly uri_template: string
  readonly name: string
  readonly description: string | null
  readonly mime_type: string | null
}

/** A prompt that a server lists, and what it is filled with. */
export type ListedPrompt = {
  readonly name: string
  readonly description: string | null
  readonly arguments: readonly {
    readonly name: string
    readonly description: string | null
    readonly required: boolean
  }[]
}

/** What a server has beside tools, as it was discovered. */
export type ServerLists = {
  readonly resources: readonly ListedResource[]
  readonly resource_templates: readonly ListedTemplate[]
  readonly prompts: readonly ListedPrompt[]
  /** Entries that are not kept: too many, too long, or with text that a person does not see. */
  readonly left_out: number
  /** Lists that the server announces but failed to return. */
  readonly unread: readonly string[]
}

/** A server without any. */
export const noLists: ServerLists = { resources: [], resource_templates: [], prompts: [], left_out: 0, unread: [] }
