import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from '#src/start/command-line.ts'
import packageJson from '../package.json' with { type: 'json' }
import called from '../specs/called-operations.json' with { type: 'json' }
import type { Operation } from '../specs/dsl/declare.ts'
import { realtimeSocket } from '../specs/resources/gateway/realtime.ts'
import { sessionSocket } from '../specs/resources/sessions.ts'
import { charts, definitions, operations } from '../src/actors/capabilities.ts'
import { actorIds } from './generate/actor-ids.ts'
import { asyncapiFile } from './generate/asyncapi.ts'
import { chartFiles } from './generate/chart-files.ts'
import { clientApi } from './generate/client-api.ts'
import { clientEvents } from './generate/client-events.ts'
import { composeFile } from './generate/compose-file.ts'
import { consoleAnswers } from './generate/console/console-answers.ts'
import { consoleEvents } from './generate/console/console-events.ts'
import { consoleOperations, consoleText } from './generate/console/console-operations.ts'
import { consoleResources } from './generate/console/console-resources.ts'
import { utilityClasses } from './generate/console/utilities.ts'
import type { GeneratedFile } from './generate/generated-file.ts'
import { logoFiles } from './generate/logos.ts'
import { machineJsonFile } from './generate/machine-json.ts'
import { mermaidFile } from './generate/mermaid.ts'
import { openapiFile } from './generate/openapi.ts'
import { accessPage } from './generate/pages/access-page.ts'
import { boundsPage } from './generate/pages/bounds-page.ts'
import { commandsPage } from './generate/pages/commands-page.ts'
import { coveragePage } from './generate/pages/coverage.ts'
import { decisionsIndex } from './generate/pages/decisions-index.ts'
import { errorsPage } from './generate/pages/errors-page.ts'
import { pythonApi } from './generate/python/python-api.ts'
import { pythonFiles } from './generate/python/python-events.ts'
import { vendoredFiles } from './generate/vendored.ts'

/*
 * Writes every file that is generated from the declarations and machines. With `--check` it writes nothing, lists stale
 * files, and fails if there are any.
 */

const usage = [
  'usage: npm run generate [-- --check --anew]',
  '',
  'Writes every file that follows from the declarations and machines.',
  '--check writes nothing, and exits with 1 if a file is stale.',
  '--anew also lays out the charts whose machines and files are as they were recorded.',
].join('\n')
const flag = { type: 'boolean' } as const
const { check: checkOnly = false, anew: isAnew = false } = readCommandLine({
  usage,
  options: { check: flag, anew: flag },
})

const root = fileURLToPath(new URL('..', import.meta.url))
const declared: readonly Operation[] = [...Object.values(operations), sessionSocket, realtimeSocket]

const resourcePages = consoleResources(declared)
const consolePages = consoleText(root) + resourcePages.text
const client = clientApi(declared)

const files: readonly GeneratedFile[] = [
  openapiFile(declared, packageJson.version),
  asyncapiFile(declared, packageJson.version),
  boundsPage(),
  errorsPage(declared),
  accessPage(declared),
  coveragePage(declared, called),
  decisionsIndex(root),
  commandsPage(),
  ...charts.map(mermaidFile),
  ...charts.map(machineJsonFile),
  ...(await chartFiles(charts, { root, isAnew })),
  consoleOperations(declared, consolePages),
  resourcePages,
  consoleAnswers(declared, consolePages, client),
  consoleEvents(),
  clientEvents(),
  ...pythonFiles(),
  pythonApi(declared),
  client,
  actorIds(definitions),
  composeFile(root),
  ...logoFiles(),
  ...(await vendoredFiles()),
  await utilityClasses(root),
]

const isStale = ({ path, text }: GeneratedFile): boolean => {
  const file = join(root, path)
  return !existsSync(file) || readFileSync(file, 'utf8') !== text
}

const stale = files.filter(isStale)
if (checkOnly) {
  for (const { path } of stale) console.log(`${path} is stale: run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const { path, text } of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  console.log(`${stale.length} of ${files.length} generated files were stale`)
}
