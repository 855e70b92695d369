import { bridges } from './bridges.ts'
import type { ClientCheck } from './client-check.ts'
import { compiledSdks, otherCompiledClients } from './compiled-sdks.ts'
import { generators } from './generators.ts'
import { nextApp } from './next.ts'
import { currentNode, everyMajor } from './node-majors.ts'
import { openapiGeneratorClients } from './openapi-generator.ts'
import { ownClient } from './own-client.ts'
import { pythonFrameworks } from './python-frameworks.ts'
import { everyPythonMajor } from './python-majors.ts'
import { sdks } from './sdks.ts'

const { codex, ...smallSdks } = sdks
const { orval, ...quickGenerators } = generators

/**
 * Clients that install and run in seconds, by name; CI runs them. Not among them, for the CPU time that each takes: SDKs of
 * compiled languages, whose cold build takes a minute, a binary of 400 MB, an app of Next, other runtimes for our own client, other majors of the SDKs on other releases of
 * Node and Python, and agent frameworks for Python. They run each night.
 */
export const quickClients: Readonly<Record<string, ClientCheck>> = { ...quickGenerators, ...smallSdks, ...currentNode }

/** Every client, by name. */
export const knownClients: Readonly<Record<string, ClientCheck>> = {
  ...quickClients,
  codex,
  orval,
  next: nextApp,
  bridges,
  ...ownClient,
  ...everyMajor,
  ...everyPythonMajor,
  ...compiledSdks,
  ...openapiGeneratorClients,
  ...otherCompiledClients,
  ...pythonFrameworks,
}
