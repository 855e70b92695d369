import { createServer } from 'node:http'
import { extractedUser, portOf, type UpdateCase } from '../recall/schema.ts'

/**
 * A stand-in, with OpenAI's protocol, for a model that understands every text of the cases: its facts are what the cases say of
 * themselves. It is no model, and no figure of one: it shows what the memory makes of a right extraction.
 */
export const understandingModel = async (cases: readonly UpdateCase[]) => {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => {
      body += part
    })
    request.on('end', () => {
      const content = JSON.stringify({ facts: factsOf(cases, extractedUser(body)) })
      const delta = { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }] }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...delta })}\n\ndata: [DONE]\n\n`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const factsOf = (cases: readonly UpdateCase[], said: string) => {
  for (const each of cases) {
    const turn = each.turns.findIndex(({ text }) => text === said)
    if (turn === each.current || each.stale.includes(turn)) return factsOfTurn(each, turn)
  }
  return []
}

const factsOfTurn = ({ id, current, turns, stale_texts, still_true }: UpdateCase, turn: number) => {
  const text = turns[turn]?.text ?? ''
  const fact = (object: string, relation: string, single: boolean) => ({
    ...{ subject: 'user', relation, object, single, ended: false, valid_from: null, text: object },
  })
  const about = `topic_${id.replaceAll(/\W/g, '_')}`
  if (turn === current || still_true === '') return [fact(text, about, true)]
  const stale = stale_texts.find((each) => text.includes(each)) ?? text
  return [fact(stale, about, true), fact(still_true, `beside_${about}`, false)]
}
