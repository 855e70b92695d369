import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { helmProgram } from './helm-program.ts'
import { faultsOf } from './kubernetes-schemas.ts'

/*
 * Checks the Helm chart with Helm itself: lints it, renders each example of values, compares the result with the manifests in
 * deploy/kubernetes, and validates those against the schemas of the oldest and the newest Kubernetes that the chart names.
 */

const { write, 'if-changed': ifChanged } = readCommandLine({
  usage:
    'usage: npm run chart -- [--write | --if-changed]\n\nLints the Helm chart, and compares what it renders with the manifests in deploy/kubernetes. Exits with 1 if something is wrong.\n\n--write       writes the manifests, and records what was checked\n--if-changed  does nothing when all of it is as recorded',
  options: { write: { type: 'boolean' }, 'if-changed': { type: 'boolean' } },
})

const deploy = resolve(import.meta.dirname, '../../deploy')
const chart = join(deploy, 'helm')
const examples = join(chart, 'examples')
const record = join(deploy, 'kubernetes/checked.sha256')
if (ifChanged === true && readFileSync(record, 'utf8').trim() === checkedBytes()) {
  process.stdout.write('the chart and its manifests are those that Helm has checked\n')
  process.exit()
}
const helm = helmProgram()
const kubernetes = ['1.27.0', '1.37.0']
const problems: string[] = []

/** A hash of all that the result of a check follows from: the chart, the manifests, and what checks them. */
function checkedBytes(): string {
  const sum = createHash('sha256')
  for (const folder of [chart, join(deploy, 'kubernetes'), import.meta.dirname])
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(folder, name)
      if (path === record || !statSync(path).isFile()) continue
      sum.update(`${name}\0`).update(readFileSync(path)).update('\0')
    }
  return sum.digest('hex')
}

/** Runs a tool to its end. @returns its output; null when it fails, with its errors among the problems. */
const output = (program: string, args: readonly string[]): string | null => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status === 0) return stdout
  problems.push(`${basename(program)} ${args.join(' ')}\n${stdout}${stderr}`)
  return null
}

const render = (values: string, version: string) =>
  output(helm, ['template', 'troupe', chart, '--values', values, '--kube-version', version, '--namespace', 'troupe'])

for (const example of readdirSync(examples)) {
  const values = join(examples, example)
  const file = join(deploy, 'kubernetes', example)
  output(helm, ['lint', '--strict', chart, '--values', values])
  for (const version of kubernetes) {
    const manifests = render(values, version)
    if (manifests === null) continue
    if (write === true) writeFileSync(file, manifests)
    if (manifests !== readFileSync(file, 'utf8'))
      problems.push(`deploy/kubernetes/${example} is stale: npm run chart -- --write`)
    problems.push(...faultsOf(manifests, version).map((fault) => `deploy/kubernetes/${example}: ${fault}`))
  }
}

// values that would make a chart which cannot run are refused, and named
for (const [set, named] of [
  ['image.repository=', 'image/repository'],
  ['secret.name=', 'secret/name'],
  ['replica=3', 'replica'],
  ['replicas=0', 'replicas'],
  ['ingress.host=', 'ingress/host'],
] as const) {
  const args = ['template', 'troupe', chart, '--values', join(examples, 'cluster.yaml'), '--set', set]
  const { status, stderr } = spawnSync(helm, args, { encoding: 'utf8' })
  if (status === 0 || !stderr.includes(named)) problems.push(`--set ${set} is not refused by its name: ${stderr}`)
}

if (problems.length > 0) process.stderr.write(`${problems.join('\n\n')}\n`)
if (problems.length === 0 && write === true) writeFileSync(record, `${checkedBytes()}\n`)
const count = readdirSync(examples).length
process.stdout.write(
  problems.length === 0 ? `the chart renders ${count} examples for Kubernetes ${kubernetes.join(' and ')}\n` : '',
)
process.exitCode = problems.length === 0 ? 0 : 1
