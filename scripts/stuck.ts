import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'

const usage = `usage: npm run stuck -- [--url http://127.0.0.1:8080] [--kind KIND] [--retry ID | --discard ID | --skip ID --event JSON]
SECRET_KEY must be set to a secret key of the project.`

/**
 * `npm run stuck`: lists stuck work of a running installation with its reason; `--retry`, `--skip` and `--discard`
 * resolve one item (specs/decisions/0091-stuck-work.md).
 */
const main = async (): Promise<void> => {
  const text = { type: 'string' } as const
  const options = { url: text, kind: text, retry: text, discard: text, skip: text, event: text } as const
  const { url = 'http://127.0.0.1:8080', kind, ...decision } = readCommandLine({ usage, options })
  const key = process.env.SECRET_KEY
  if (key === undefined) return refuseCommandLine(usage, 'SECRET_KEY is not set.')
  if (URL.parse(url) === null) return refuseCommandLine(usage, `--url: '${url}' is not the URL of a server`)
  const event = eventOf(decision.event)
  const api = async (method: string, path: string, body?: string): Promise<string> => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const answered = await fetch(new URL(path, url), { method, headers, ...(body !== undefined && { body }) }).catch(
      (error: Error) => {
        throw new Error(`No server answers at ${url}.`, { cause: error })
      },
    )
    const answer = await answered.text()
    if (!answered.ok) throw new Error(`${answered.status} ${answer}`)
    return answer
  }
  for (const verb of ['retry', 'discard', 'skip'] as const) {
    const id = decision[verb]
    if (id === undefined) continue
    const body = verb === 'skip' ? JSON.stringify({ event }) : undefined
    await api('POST', `/v1/stuck/${encodeURIComponent(id)}/${verb}`, body)
    process.stdout.write(`${id}: ${verb}\n`)
    return
  }
  const query = new URLSearchParams({ limit: '100', ...(kind !== undefined && { kind }) })
  const { data } = JSON.parse(await api('GET', `/v1/stuck?${query}`))
  for (const each of data) {
    process.stdout.write(
      `${each.id}  ${each.kind}  ${each.actor_id}  ${each.subject}  ×${each.attempts}  ${each.reason}\n`,
    )
  }
  if (data.length === 0) process.stdout.write('no stuck work\n')
}

/** Parses the JSON of `--event`. */
function eventOf(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(text)
  } catch {
    return refuseCommandLine(usage, '--event must be JSON')
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
})
