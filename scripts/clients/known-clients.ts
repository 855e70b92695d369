import type { ClientCheck } from './client-check.ts'
import { compiledSdks, otherCompiledClients } from './compiled-sdks.ts'
import { generators } from './generators.ts'
import { openapiGeneratorClients } from './openapi-generator.ts'
import { heavyPythonFrameworks, pythonFrameworks } from './python-frameworks.ts'
import { sdks } from './sdks.ts'

/** Clients that install in under two minutes, by name; CI runs them. */
export const quickClients: Readonly<Record<string, ClientCheck>> = {
  ...generators,
  ...sdks,
  ...compiledSdks,
  ...pythonFrameworks,
}

/** Every client, by name. */
export const knownClients: Readonly<Record<string, ClientCheck>> = {
  ...quickClients,
  ...openapiGeneratorClients,
  ...otherCompiledClients,
  ...heavyPythonFrameworks,
}
