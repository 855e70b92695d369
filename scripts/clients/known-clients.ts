import type { ClientCheck } from './client-check.ts'
import { compiledSdks, otherCompiledClients } from './compiled-sdks.ts'
import { generators } from './generators.ts'
import { newestNode, nodeMajors } from './node-majors.ts'
import { openapiGeneratorClients } from './openapi-generator.ts'
import { heavyPythonFrameworks, pythonFrameworks } from './python-frameworks.ts'
import { sdks } from './sdks.ts'

/**
 * Clients that install and run in seconds, by name; CI runs them. SDKs of compiled languages are not among them: a cold
 * build takes a minute of CPU time each, on a slow machine half of the time that CI has for this step.
 */
export const quickClients: Readonly<Record<string, ClientCheck>> = {
  ...generators,
  ...sdks,
  ...nodeMajors,
  ...pythonFrameworks,
}

/** Every client, by name. */
export const knownClients: Readonly<Record<string, ClientCheck>> = {
  ...quickClients,
  ...newestNode,
  ...compiledSdks,
  ...openapiGeneratorClients,
  ...otherCompiledClients,
  ...heavyPythonFrameworks,
}
