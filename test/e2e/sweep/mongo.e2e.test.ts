import { sweepOn } from './sweep.ts'

sweepOn('mongo')
