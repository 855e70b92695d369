import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { schemaFault } from '#specs/dsl/ajv.ts'
import { offeredTools } from '#src/tool-server/offered-tools.ts'
import { requestOf, shownTool } from '#src/tool-server/tool-request.ts'
import { maxResultLength, resultOf } from '#src/tool-server/tool-result.ts'

const named = (name: string) => {
  const tool = offeredTools.find((each) => each.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool
}

describe('a tool', () => {
  it.each(offeredTools.map((tool) => [tool.name, tool] as const))(
    '%s is a served operation and has a valid schema',
    (_, tool) => {
      expect(Object.keys(operations)).toContain(tool.operation.id)
      const { inputSchema, name, description } = shownTool(tool)
      expect(name).toMatch(/^[a-z_]{1,64}$/)
      expect(description.length).toBeGreaterThan(10)
      expect(schemaFault(inputSchema)).toBeNull()
      const names = [...tool.operation.params, ...Object.keys(tool.operation.query)]
      const fields = Object.keys(tool.operation.body?.json.properties ?? {})
      expect(names.filter((each) => fields.includes(each))).toEqual([])
    },
  )

  it('has one type per field, because some clients do not support lists of types', () => {
    for (const tool of offeredTools) {
      const { properties } = shownTool(tool).inputSchema
      expect(Object.values(properties).filter(({ type }) => Array.isArray(type))).toEqual([])
    }
    const { description } = shownTool(named('create_knowledge_base')).inputSchema.properties
    expect(description?.anyOf?.map(({ type }) => type)).toEqual(['string', 'null'])
  })

  it('is never a DELETE in read mode, and never a GET in write mode', () => {
    const changing = offeredTools.filter(({ operation, mode }) => operation.method === 'DELETE' && mode === 'read')
    expect(changing).toEqual([])
    for (const { mode, operation } of offeredTools)
      expect(mode === 'read' || operation.method !== 'GET', operation.id).toBe(true)
  })

  it('becomes the request of its operation with path, query and body', () => {
    expect(requestOf(named('search_knowledge'), { knowledge_base_id: 'kb/1', query: 'tea', top_k: 3 })).toEqual({
      ...{ method: 'POST', path: '/v1/knowledge-bases/kb%2F1/search', body: '{"query":"tea","top_k":3}' },
    })
    expect(requestOf(named('list_sessions'), { limit: 5 })).toEqual({
      ...{ method: 'GET', path: '/v1/sessions?limit=5', body: null },
    })
  })

  it.each([
    ['get_session', {}, 'The argument session_id is missing.'],
    ['get_session', { session_id: 1 }, 'The argument session_id is missing.'],
    ['get_session', { session_id: '.' }, 'The argument session_id is not an id.'],
    ['get_session', { session_id: '..' }, 'The argument session_id is not an id.'],
    ['get_session', { session_id: '\ud800' }, 'The argument session_id is not an id.'],
    ['get_session', { session_id: 'ses_1', x: 1 }, 'The tool has no argument x.'],
  ])('%s refuses the arguments %j', (name, given, message) => {
    expect(() => requestOf(named(name), given)).toThrow(message)
  })

  it('cuts a result to about 400,000 characters', () => {
    const body = JSON.stringify({ text: 'x'.repeat(500_000) })
    const { content, structuredContent } = resultOf({ status: 200, contentType: 'application/json', body })
    expect(content[0]?.text.length).toBeLessThan(maxResultLength + 40)
    expect(structuredContent).toBeUndefined()
  })
})
