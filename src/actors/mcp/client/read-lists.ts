import type { ListedPrompt, ListedResource, ListedTemplate, ServerLists } from '#machines/mcp-server/server-lists.ts'
import { isObject } from '#runtime/index.ts'
import { maxListed, maxResourceUri } from '#specs/resources/mcp/mcp-limits.ts'
import { hiddenText } from '#src/skill-scan/index.ts'
import type { McpConnection } from './mcp-connection.ts'

const maxName = 256
const maxDescription = 1024
const maxArguments = 32

/** Reads one list of a server. When reading it fails, the other lists are still used. */
type ReadList = (connection: McpConnection, signal: AbortSignal) => Promise<readonly unknown[]>

const resources: ReadList = async ({ client }, signal) => (await client.listResources(undefined, { signal })).resources
const templates: ReadList = async ({ client }, signal) =>
  (await client.listResourceTemplates(undefined, { signal })).resourceTemplates
const prompts: ReadList = async ({ client }, signal) => (await client.listPrompts(undefined, { signal })).prompts

/** Returns the resources, resource templates and prompts of a connected server, within the limits of what is stored. */
export const listsOf = async (connection: McpConnection, signal: AbortSignal): Promise<ServerLists> => {
  const has = connection.client.getServerCapabilities() ?? {}
  const unread: string[] = []
  const read = async (name: string, isOffered: boolean, list: ReadList): Promise<readonly unknown[]> => {
    try {
      return isOffered ? await list(connection, signal) : []
    } catch {
      unread.push(name)
      return []
    }
  }
  const found = {
    resources: await read('resources', has.resources !== undefined, resources),
    resource_templates: await read('resource_templates', has.resources !== undefined, templates),
    prompts: await read('prompts', has.prompts !== undefined, prompts),
  }
  const kept = {
    resources: keptOf(found.resources, resourceOf, ({ uri }) => uri),
    resource_templates: keptOf(found.resource_templates, templateOf, ({ uri_template }) => uri_template),
    prompts: keptOf(found.prompts, promptOf, ({ name }) => name),
  }
  const count = (lists: Readonly<Record<string, readonly unknown[]>>): number =>
    Object.values(lists).reduce((sum, list) => sum + list.length, 0)
  return { ...kept, left_out: count(found) - count(kept), unread }
}

/** Returns the valid entries, up to the maximum, without duplicate keys. */
const keptOf = <T>(
  listed: readonly unknown[],
  of: (each: unknown) => T | null,
  keyOf: (each: T) => string,
): readonly T[] => {
  const kept = new Map<string, T>()
  for (const each of listed) {
    const read = of(each)
    if (read !== null && kept.size < maxListed && !kept.has(keyOf(read))) kept.set(keyOf(read), read)
  }
  return [...kept.values()]
}

const resourceOf = (listed: unknown): ListedResource | null => {
  if (!isObject(listed)) return null
  const uri = plain(listed.uri, maxResourceUri)
  return uri === null ? null : { uri, ...described(listed, uri) }
}

const templateOf = (listed: unknown): ListedTemplate | null => {
  if (!isObject(listed)) return null
  const uri_template = plain(listed.uriTemplate, maxResourceUri)
  return uri_template === null ? null : { uri_template, ...described(listed, uri_template) }
}

const described = (listed: Readonly<Record<string, unknown>>, otherwise: string) => ({
  name: plain(listed.name, maxName) ?? otherwise.slice(0, maxName),
  description: plain(listed.description, maxDescription),
  mime_type: plain(listed.mimeType, maxName),
})

const promptOf = (listed: unknown): ListedPrompt | null => {
  if (!isObject(listed)) return null
  const name = plain(listed.name, maxName)
  if (name === null) return null
  const given = Array.isArray(listed.arguments) ? listed.arguments : []
  const taken = given.slice(0, maxArguments).flatMap((each) => {
    const argument = isObject(each) ? plain(each.name, maxName) : null
    if (!isObject(each) || argument === null) return []
    return [{ name: argument, description: plain(each.description, maxDescription), required: each.required === true }]
  })
  return { name, description: plain(listed.description, maxDescription), arguments: taken }
}

/** Returns a server's text if a person sees all of it; null when it is absent, too long or has hidden characters. */
const plain = (value: unknown, max: number): string | null => {
  if (typeof value !== 'string' || value === '' || value.length > max || !value.isWellFormed()) return null
  if (/[^\P{Cc}\n\t]/u.test(value)) return null
  return hiddenText(value).some(({ severity }) => severity === 'blocker') ? null : value
}
