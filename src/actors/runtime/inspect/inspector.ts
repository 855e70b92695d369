import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { Chart, StateValue } from '#machines/definition.ts'
import { leafPath } from '#machines/state-value.ts'
import { type ChartLayout, chartLayout } from './chart-layout.ts'
import { chartPage } from './chart-page.ts'

/** A page of charts that is being served. */
export interface Inspection {
  readonly url: string
  close(): Promise<void>
}

/** What the pages show. */
export interface Inspected {
  readonly charts: readonly Chart[]
  readonly read: (id: string) => Promise<{ readonly machine: string; readonly value: StateValue }>
}

/** Files of the console that draw a chart: beside the package's code, without their types, or in the console's folder. */
const packed = new URL('./console/', import.meta.url)
const isPacked = existsSync(packed)
const assets = isPacked ? packed : new URL('../../../../console/', import.meta.url)
const scripts = ['chart.ts', 'chart-drawing.ts', 'chart-model.ts', 'dom.ts', 'format.ts', 'parts/turned-text.ts']
const typeOf = (file: string): string => (file.endsWith('.css') ? 'text/css' : 'text/javascript')

/** Serves the charts of machines on a loopback port; 0 for any. */
export const inspector = async (inspected: Inspected, port: number): Promise<Inspection> => {
  const layouts = new Map<string, Promise<ChartLayout>>()
  const layoutOf = (name: string): Promise<ChartLayout> | undefined => {
    const chart = inspected.charts.find((each) => each.name === name)
    if (chart === undefined) return undefined
    const layout = layouts.get(name) ?? chartLayout(chart)
    layouts.set(name, layout)
    return layout
  }
  const answer = async (path: string): Promise<Answer> => {
    const [, kind = '', name = ''] = /^\/(\w+)\/(.+)$/.exec(path) ?? []
    if (path === '/') return { type: 'text/html', body: chartPage(inspected.charts.map((chart) => chart.name)) }
    if (kind === 'code' && (scripts.includes(name) || name === 'chart.css'))
      return { type: typeOf(name), body: await codeOf(name) }
    const layout = kind === 'charts' ? layoutOf(name) : undefined
    if (layout !== undefined) return { type: 'application/json', body: JSON.stringify(await layout) }
    if (kind !== 'actors') return missing
    const actor = await inspected.read(name)
    return { type: 'application/json', body: JSON.stringify({ ...actor, active: activeStates(actor.value) }) }
  }
  return listening(answer, port)
}

const codeOf = async (name: string): Promise<string> => {
  const text = await readFile(new URL(name, assets), 'utf8')
  return isPacked || name.endsWith('.css') ? text : stripTypeScriptTypes(text)
}

interface Answer {
  readonly status?: number
  readonly type: string
  readonly body: string
}

const missing: Answer = { status: 404, type: 'text/plain', body: 'not found' }

const listening = async (answer: (path: string) => Promise<Answer>, port: number): Promise<Inspection> => {
  const server = createServer((request, response) => {
    // a page of another site may not read actors by a name that leads to this computer
    if (!isLocal(request))
      return send(response, { status: 403, type: 'text/plain', body: 'only by a loopback address' })
    answer(decoded(request.url ?? '/')).then(
      (found) => send(response, found),
      () => send(response, missing),
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://127.0.0.1:${bound}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const isLocal = ({ headers }: IncomingMessage): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')

/** The path of a request's URL; an invalid one is not found. */
const decoded = (url: string): string => {
  try {
    return decodeURIComponent(url.split('?')[0] ?? '')
  } catch {
    return ''
  }
}

const send = (response: ServerResponse, { status = 200, type, body }: Answer): void => {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' }).end(body)
}

/** Paths of all states that a value is in, outer ones first. */
const activeStates = (value: StateValue): readonly string[] => [
  ...new Set(
    leafPath(value)
      .split(' ')
      .flatMap((path) => path.split('.').map((_, depth, steps) => steps.slice(0, depth + 1).join('.'))),
  ),
]
