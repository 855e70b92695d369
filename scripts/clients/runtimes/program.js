import process from 'node:process'
import { converse, everyTransport } from './conversation.js'

const { TROUPE_URL: baseUrl, TROUPE_KEY: key } = process.env
console.log(await converse({ baseUrl, key, transports: everyTransport }))
process.exit(0)
