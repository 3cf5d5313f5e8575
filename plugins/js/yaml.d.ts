import type {Question} from './link.js';

/** Why a text cannot be read, and where. */
export class Unreadable extends Error {
  code: string;
  detail: string;
  /** From 1; undefined if it is not about a place of the manifest. */
  line?: number;
  column?: number;
}

/** The documents of a text in YAML or JSON, read as Kubernetes reads them. */
export function parse(text: string): unknown[];

/** The request of a question, and the operation that answers it. */
export function request(question: Question): {operation: 'decide' | 'simulate' | 'validate' | 'table'; request: Record<string, unknown>};
