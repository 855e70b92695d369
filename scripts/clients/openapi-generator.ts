import { copyFileSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { onPath } from '../services/command.ts'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'

/** The last version that is tried here; it runs on Java 11 and later. */
const version = '7.17.0'
const artifact = 'openapi-generator-cli'

/**
 * openapi-generator's Go client. It needs Java, Maven, by which the generator comes from Maven Central, and Go: where one is missing it says so
 * and is passed over.
 *
 * Its Java client (7.17.0) does not compile, by a constant boolean; its TypeScript client (`typescript-fetch`) compiles with
 * `--global-property=skipFormModel=false`, without which both lack the models of forms (specs/decisions/0224-openapi-generator-java.md).
 */
export const openapiGeneratorGo: ClientCheck = (world) => {
  const missing = ['java', 'mvn', 'go'].filter((name) => onPath(name) === null)
  if (missing.length > 0) {
    console.log(`passed over: openapi-generator needs ${missing.join(', ')}, which is not here`)
    return
  }
  run(world, 'java', ['-jar', generator(world), 'generate', '-i', world.document, '-g', 'go', '-o', '.'])
  mkdirSync(join(world.folder, 'turn'))
  copyFileSync(join(import.meta.dirname, 'go/generated.go'), join(world.folder, 'turn/main.go'))
  run(world, 'go', ['run', './turn'], { GOFLAGS: '-mod=mod' })
}

const generator = (world: ClientWorld): string => {
  run(world, 'mvn', ['-q', '-B', 'dependency:get', `-Dartifact=org.openapitools:${artifact}:${version}`])
  return join(homedir(), '.m2/repository/org/openapitools', artifact, version, `${artifact}-${version}.jar`)
}
