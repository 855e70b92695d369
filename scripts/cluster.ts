import { resolve } from 'node:path'
import { readCommandLine, refuseCommandLine, wholeOption } from '#src/start/command-line.ts'
import { LocalCluster } from './cluster/local-cluster.ts'

/**
 * `npm run cluster -- --nodes 3 --port 8080`: starts several servers of one installation on this machine, on
 * consecutive ports from this one. They share MONGODB_URL and REDIS_URL; if one is not set, a temporary instance is
 * started. A node that ends is not restarted. Press Ctrl-C to stop all nodes.
 */
const usage = [
  'usage: npm run cluster -- [--nodes 3] [--port 8080]',
  '',
  'Starts several servers of one installation on this machine, on that port and those after it.',
  'They share MONGODB_URL and REDIS_URL; if one is not set, a temporary instance is started.',
].join('\n')

const options = readCommandLine({ usage, options: { nodes: { type: 'string' }, port: { type: 'string' } } })

const number = (name: 'nodes' | 'port', otherwise: number): number => {
  const value = wholeOption(usage, name, options[name] ?? String(otherwise))
  return value < 65_536 ? value : refuseCommandLine(usage, `--${name} must be below 65536`)
}

const { PORT, HOST, NODE_ID, PEER_HOST, PEER_PORT, DATA_DIR, MONGODB_URL, REDIS_URL, ...rest } = process.env
const given = (value: string | undefined): value is string => value !== undefined && value !== ''
const passedOn = Object.fromEntries(
  Object.entries(rest).flatMap(([name, value]) => (given(value) ? [[name, value]] : [])),
)

const withoutPassword = (url: string): string => url.replace(/\/\/[^@/]*@/, '//')

const cluster = await LocalCluster.start(number('nodes', 3), {
  ...(given(MONGODB_URL) && { mongodbUrl: MONGODB_URL, dataDir: resolve(DATA_DIR || './data') }),
  ...(given(REDIS_URL) && { redisUrl: REDIS_URL }),
  firstPort: number('port', 8080),
  env: () => ({ EMBEDDER: 'local', ...passedOn }),
})

const { credentials, nodes } = cluster
const { BOOTSTRAP_SECRET_KEY, BOOTSTRAP_OWNER_EMAIL, BOOTSTRAP_OWNER_PASSWORD } = passedOn
const lines = [
  ...nodes.map(({ name, url, pid }) => `${name}  ${url}  pid ${pid}`),
  `MongoDB  ${withoutPassword(cluster.mongodbUrl)}`,
  `Redis    ${withoutPassword(cluster.redisUrl)}`,
  ...(BOOTSTRAP_SECRET_KEY === undefined ? [`secret key      ${credentials.secretKey}`] : []),
  ...(BOOTSTRAP_OWNER_PASSWORD === undefined
    ? [`dashboard owner ${BOOTSTRAP_OWNER_EMAIL ?? credentials.ownerEmail}, password ${credentials.ownerPassword}`]
    : []),
  ...(given(MONGODB_URL) ? ['The secrets above are valid if the database was empty.'] : []),
  'Press Ctrl-C to stop all nodes.',
]
process.stdout.write(`${lines.join('\n')}\n`)

let isEnding = false
for (const node of nodes) {
  void node.exited.then((code) => {
    if (isEnding) return
    const last = node.log().trimEnd().split('\n').slice(-5).join('\n')
    process.stdout.write(`${node.name} has ended with ${code === null ? 'a signal' : `code ${code}`}\n${last}\n`)
  })
}

const end = async (): Promise<void> => {
  isEnding = true
  process.stdout.write('stopping: running turns have 20 seconds to finish\n')
  await cluster.drain()
  await cluster.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void (isEnding || end()))
