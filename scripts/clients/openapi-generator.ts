import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { onPath } from '../services/command.ts'
import { type ClientCheck, type ClientWorld, run } from './client-check.ts'

/** Pinned: raise the version here to try a new one. It runs on Java 11 and later. */
const version = '7.25.0'
const artifact = 'openapi-generator-cli'

/**
 * Skips a check, with a message, when a tool that it needs is missing. All need Java and Maven, which downloads the
 * generator from Maven Central.
 */
const needing =
  (tools: readonly string[], check: ClientCheck): ClientCheck =>
  (world) => {
    const missing = ['java', 'mvn', ...tools].filter((name) => onPath(name) === null)
    if (missing.length === 0) check(world)
    else console.log(`passed over: openapi-generator needs ${missing.join(', ')}, which is not here`)
  }

/** openapi-generator's Go client. */
const goClient = needing(['go'], (world) => {
  generate(world, ['-g', 'go'])
  mkdirSync(join(world.folder, 'turn'))
  copyFileSync(join(import.meta.dirname, 'go/generated.go'), join(world.folder, 'turn/main.go'))
  run(world, 'go', ['run', './turn'], { GOFLAGS: '-mod=mod' })
})

/**
 * openapi-generator's Java client, with a library whose generated code compiles: not every library's does
 * (specs/decisions/0107-documents-for-generators.md).
 */
const javaClient = needing(['javac'], (world) => {
  const left = ['apiTests', 'modelTests', 'apiDocs', 'modelDocs'].map((name) => `${name}=false`)
  const properties = ['--global-property', ['models', 'apis', 'supportingFiles', ...left].join(',')]
  // this library reads a stream as one text, whatever its type is
  const texts = ['--schema-mappings', 'SessionStreamEventText=Object']
  generate(world, ['-g', 'java', '--library', 'apache-httpclient', ...texts, ...properties])
  run(world, 'mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'])
  const program = 'Generated.java'
  copyFileSync(join(import.meta.dirname, 'java', program), join(world.folder, program))
  const sources = readdirSync(join(world.folder, 'src/main/java'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.java'))
    .map((path) => join('src/main/java', path))
  run(world, 'javac', ['-proc:none', '-nowarn', '-d', 'classes', '-cp', 'lib/*', ...sources, program])
  run(world, 'java', ['-cp', 'classes:lib/*', 'Generated'])
})

/** Checks of openapi-generator's clients, by name. */
export const openapiGeneratorClients: Readonly<Record<string, ClientCheck>> = {
  'openapi-generator-go': goClient,
  'openapi-generator-java': javaClient,
}

const generate = (world: ClientWorld, args: readonly string[]): void => {
  run(world, 'mvn', ['-q', '-B', 'dependency:get', `-Dartifact=org.openapitools:${artifact}:${version}`])
  const jar = join(homedir(), '.m2/repository/org/openapitools', artifact, version, `${artifact}-${version}.jar`)
  run(world, 'java', ['-jar', jar, 'generate', '-i', world.document, '-o', '.', ...args])
}
