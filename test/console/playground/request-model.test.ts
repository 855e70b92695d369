import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  codeOf,
  openedPrompt,
  openedRequest,
  requestOf,
  settingsOfAgent,
} from '../../../console/playground/request-model.ts'

const none = { user: '', base: '' }
const user = (content: string) => ({ role: 'user', content })

describe('a request of the playground', () => {
  it('has what is filled in, and memory and knowledge where they are switched on', () => {
    const settings = { model: 'simulated-1', instructions: '', temperature: 0.2, top_p: undefined }
    const body = { model: 'simulated-1', temperature: 0.2, input: [user('Hi')], store: false }
    expect(requestOf(settings, none, [user('Hi')])).toEqual(body)
    expect(requestOf(settings, { user: 'ada', base: 'kb_1' }, [user('Hi')])).toEqual({
      ...body,
      memory: { userId: 'ada' },
      tools: [{ type: 'file_search', vector_store_ids: ['kb_1'] }],
    })
  })

  it('starts from the config of an agent, whose tools become functions', () => {
    const tool = { name: 'refund', description: 'Pays back.', parameters: { type: 'object' } }
    const config = {
      ...{ model: 'simulated-1', system_prompt: 'Be kind.', instructions: 'Be brief.', max_tokens: 50 },
      tools: [
        { type: 'http', ...tool, url: 'https://shop.example' },
        { type: 'function', function: tool },
      ],
    }
    expect(settingsOfAgent(config)).toEqual({
      ...{ model: 'simulated-1', max_output_tokens: 50, instructions: 'Be kind.\n\nBe brief.' },
      tools: [
        { type: 'function', ...tool },
        { type: 'function', ...tool },
      ],
    })
  })

  it('starts from a version of a stored prompt', () => {
    const messages = [{ role: 'system', content: 'Be kind.' }, user('Hi'), { role: 'assistant', content: 'Hello' }]
    expect(openedPrompt({ messages, temperature: 1 })).toEqual({
      ...{ settings: { instructions: 'Be kind.', temperature: 1 }, items: messages.slice(1), text: '' },
    })
  })

  it('opens a logged chat completion or response, with its last message to be sent again', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      user('One'),
      { role: 'assistant', content: '1' },
      user('Two'),
    ]
    const opened = { settings: { model: 'm', instructions: 'Be kind.' }, items: messages.slice(1, 3), text: 'Two' }
    expect(openedRequest('chat_completions.create', JSON.stringify({ model: 'm', messages }))).toEqual(opened)
    const response = { model: 'm', instructions: 'Be kind.', input: messages.slice(1) }
    expect(openedRequest('responses.create', JSON.stringify(response))).toEqual(opened)
    expect(openedRequest('responses.create', '{"model":"m","input":"Tw')).toBeNull()
    expect(openedRequest('embeddings.create', '{}')).toBeNull()
  })

  it('is valid code, with quotes in its texts', () => {
    const body = { input: [user(`It's "quoted" \\ \n`)], store: false, memory: null, tools: [] }
    const curl = codeOf('curl', body, 'http://127.0.0.1:1')
    const sent = execFileSync('sh', ['-c', curl.replace(/^curl.*\n.*\n.*\n {2}-d/, 'printf %s')], { encoding: 'utf8' })
    expect(JSON.parse(sent)).toEqual(body)
    expect(codeOf('TypeScript', body, '')).toContain(JSON.stringify(body, null, 2))
    const python = codeOf('Python', body, '')
    const given = python.slice(python.indexOf('body = ') + 7, python.lastIndexOf('\n'))
    const read = `import json; print(json.dumps(${given}))`
    expect(JSON.parse(execFileSync('python3', ['-c', read], { encoding: 'utf8' }))).toEqual(body)
  })
})
