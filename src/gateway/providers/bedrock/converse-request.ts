import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/**
 * Converts a request in Anthropic's format to a body of Converse, which has the same parts under other names, and marks
 * of the prompt cache as blocks of their own.
 *
 * @throws {ServiceError} `invalid_field` for what Converse cannot express.
 */
export const converseRequest = (body: WireObject): WireObject => {
  const { max_tokens, temperature, top_p, top_k, stop_sequences, thinking, output_config } = body
  const system = arrayOf(body.system).map(objectOf).flatMap(blocksOf)
  const more = { ...(top_k !== undefined && { top_k }), ...(thinking !== undefined && { thinking }) }
  const { effort, format } = objectOf(output_config)
  const added = effort === undefined ? more : { ...more, output_config: { effort } }
  return {
    messages: arrayOf(body.messages).map((message) => {
      const { role, content } = objectOf(message)
      return { role, content: arrayOf(content).map(objectOf).flatMap(blocksOf) }
    }),
    ...(system.length > 0 && { system }),
    inferenceConfig: {
      maxTokens: max_tokens,
      ...(temperature !== undefined && { temperature }),
      ...(top_p !== undefined && { topP: top_p }),
      ...(stop_sequences !== undefined && { stopSequences: stop_sequences }),
    },
    ...toolConfigOf(body),
    ...(isObject(format) && {
      outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema: schemaOf(format) } } },
    }),
    ...(Object.keys(added).length > 0 && { additionalModelRequestFields: added }),
  }
}

const schemaOf = ({ schema }: WireObject): WireObject => ({ schema: JSON.stringify(schema), name: 'answer' })

const toolConfigOf = ({ tools, tool_choice, messages }: WireObject): WireObject => {
  const { type, name } = objectOf(tool_choice)
  // Converse cannot forbid calls: tools are left out, except where earlier calls require their declaration
  if (type === 'none' && !hasCalls(messages)) return {}
  const choice = type === 'any' ? { any: {} } : type === 'tool' ? { tool: { name } } : null
  const specs = arrayOf(tools)
    .map(objectOf)
    // tools of Anthropic's own have no schema, and Converse does not know them
    .filter(({ input_schema }) => input_schema !== undefined)
    .flatMap((tool) => [
      {
        toolSpec: {
          name: tool.name,
          ...(textOf(tool.description) !== '' && { description: tool.description }),
          inputSchema: { json: tool.input_schema },
        },
      },
      ...cachePoint(tool),
    ])
  return specs.length === 0 ? {} : { toolConfig: { tools: specs, ...(choice !== null && { toolChoice: choice }) } }
}

const hasCalls = (messages: unknown): boolean =>
  arrayOf(messages).some((message) =>
    arrayOf(objectOf(message).content).some((block) => /^tool_/.test(textOf(objectOf(block).type))),
  )

const blocksOf = (block: WireObject): readonly WireObject[] => {
  const converted = blockOf(block)
  return converted === null ? [] : [converted, ...cachePoint(block)]
}

const cachePoint = ({ cache_control }: WireObject): readonly WireObject[] => {
  if (!isObject(cache_control)) return []
  const ttl = cache_control.ttl === '1h' ? { ttl: '1h' } : {}
  return [{ cachePoint: { type: 'default', ...ttl } }]
}

const blockOf = (block: WireObject): WireObject | null => {
  switch (block.type) {
    case 'text':
      return { text: block.text }
    case 'image':
      return { image: { format: formatOf(block), source: { bytes: bytesOf(block) } } }
    case 'document':
      return documentOf(block)
    case 'search_result':
      return searchResultOf(block)
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } }
    case 'tool_result': {
      const content = arrayOf(block.content).map(objectOf).map(blockOf).filter(isObject)
      const given = content.length === 0 ? [{ text: '(no output)' }] : content
      const status = block.is_error === true ? { status: 'error' } : {}
      return { toolResult: { toolUseId: block.tool_use_id, content: given, ...status } }
    }
    case 'thinking':
      return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } }
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } }
    default:
      return null
  }
}

const bytesOf = (block: WireObject): string => {
  const { type, data } = objectOf(block.source)
  if (type === 'base64') return textOf(data)
  throw invalidField('messages', 'This provider accepts pictures and files only as data, not by their URLs.')
}

/** `png` of `image/png`. */
const formatOf = (block: WireObject): string => textOf(objectOf(block.source).media_type).replace(/^[^/]*\//, '')

/** A content that is cited by its blocks: a text alone is one. */
const textsOf = (content: unknown): readonly WireObject[] =>
  typeof content === 'string' ? [{ text: content }] : arrayOf(content).map((each) => ({ text: objectOf(each).text }))

const searchResultOf = ({ source, title, content, citations }: WireObject): WireObject => {
  const { enabled } = objectOf(citations)
  return { searchResult: { source, title, content: textsOf(content), citations: { enabled: enabled === true } } }
}

const documentOf = (block: WireObject): WireObject => {
  const { type, data, content } = objectOf(block.source)
  // names may have letters, digits, spaces, hyphens and brackets
  const name =
    textOf(block.title)
      .replace(/[^\w\s()[\]-]/g, '-')
      .replace(/_/g, '-')
      .slice(0, 200) || 'document'
  const { enabled } = objectOf(block.citations)
  const { context } = block
  const more = { ...(enabled === true && { citations: { enabled } }), ...(context !== undefined && { context }) }
  if (type === 'text')
    return {
      document: { format: 'txt', name, source: { bytes: Buffer.from(textOf(data)).toString('base64') }, ...more },
    }
  if (type === 'content') return { document: { name, source: { content: textsOf(content) }, ...more } }
  return { document: { format: formatOf(block), name, source: { bytes: bytesOf(block) }, ...more } }
}
