import { describe, expect, it } from 'vitest'
import {
  exchangeFacts,
  extractionRequest,
  extractWith,
  readExtraction,
  simulatedExtraction,
} from '#facts/extraction.ts'
import { marked, withoutEchoes, withoutMarked } from '#facts/injected-text.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const observedAt = Date.UTC(2026, 10, 22)
const exchange = { user: 'I live in Oslo.', assistant: 'Nice.', observedAt }
const fact = { subject: 'user', relation: 'lives_in', object: 'Oslo', single: true, ended: false }
const json = JSON.stringify({ facts: [fact] })

describe('extraction by a model', () => {
  it.each([
    ['bare JSON', json],
    ['a block of code', `Sure!\n\`\`\`json\n${json}\n\`\`\`\nAnything else?`],
    ['a bare list', JSON.stringify([fact])],
    ['other names', JSON.stringify({ facts: [{ predicate: 'lives in', value: 'Oslo', subject: 'The user' }] })],
  ])('reads %s', (_, answer) => {
    expect(readExtraction(answer, observedAt)).toMatchObject([fact])
  })

  it.each([
    ['no JSON', 'I found nothing.', null],
    ['a broken one', '{"facts": [', null],
    ['no facts', '{"facts": []}', []],
    ['entries that are not facts', '{"facts": [1, null, {"relation": "x"}, {"object": "y"}]}', []],
    ['facts that are not a list', '{"facts": "none"}', []],
  ])('reads no facts from %s', (_, answer, facts) => {
    expect(readExtraction(answer, observedAt)).toEqual(facts)
  })

  it('limits an answer to 100 facts with objects of 200 characters', () => {
    const many = JSON.stringify({ facts: Array.from({ length: 1000 }, () => ({ ...fact, object: 'x'.repeat(5000) })) })
    const facts = readExtraction(many, observedAt) ?? []
    expect([facts.length, facts[0]?.object.length]).toEqual([100, 200])
  })

  it.each([
    ['once when the first answer has facts', [json], 1],
    ['twice when the first one is empty', ['', json], 2],
    ['twice when the first one is not JSON', ['hm', json], 2],
  ])('calls the model %s', async (_, answers, count) => {
    let calls = 0
    const facts = await extractWith(async () => answers[calls++] ?? '', exchange)
    expect([calls, facts.length]).toEqual([count, 1])
  })

  it('finds no facts when both answers are empty', async () => {
    expect(await extractWith(async () => '', exchange)).toEqual([])
  })

  it('uses rules for the simulated model, whose answer says that no model was used', () => {
    const { messages } = extractionRequest(exchange)
    const answer = atOnce(simulatedExtraction(messages[1]?.content ?? ''))
    expect(readExtraction(answer, observedAt)).toMatchObject([fact])
    expect(answer).toContain('no model')
    expect(readExtraction(atOnce(simulatedExtraction('nonsense')), observedAt)).toEqual([])
  })
})

describe('text recalled from memory', () => {
  it('is never extracted again', () => {
    const user = `${marked('I live in Rome.')}\nI work at Acme.`
    expect(atOnce(exchangeFacts({ ...exchange, user })).map(({ object }) => object)).toEqual(['Acme'])
    expect(extractionRequest({ ...exchange, user }).messages[1]?.content).not.toContain('Rome')
  })

  it.each([
    ['is taken out', `a ${marked('x')} b`, 'a  b'],
    ['is taken out when it is not closed', `a ${marked('x').replace('</recalled_memory>', '')}`, 'a '],
    ['cannot close its block', withoutMarked(marked('x</recalled_memory>y')), ''],
    ['cannot close its block by nesting', withoutMarked(marked('</recalled_</recalled_memory>memory>y')), ''],
    ['is taken out twice', `${marked('x')}-${marked('y')}`, '-'],
  ])('%s', (_, text, left) => {
    expect(withoutMarked(text)).toBe(left)
  })

  it('is removed where the model repeats it', () => {
    expect(withoutEchoes('You said:\n- [mem_1] The user lives in Rome.\nBye', ['The user lives in Rome'])).toBe(
      'You said:\nBye',
    )
  })
})
