/** A question as on the page. */
export interface Question {
  manifest: string;
  /** Pods of a Job, as kubectl get pods prints them. */
  pods?: string;
  exits?: string;
  /** A Kubernetes version such as 1.36. */
  version?: string;
  validation?: 'Strict' | 'Warn' | 'Ignore';
  gates?: Record<string, 'true' | 'false'>;
  proposals?: string[];
}

/**
 * The fragment (#v1=…) of a link to the playground that holds a question. It rejects one that is
 * too long.
 */
export function encodeLink(question: Question): Promise<string>;

/** The question of a fragment. It rejects anything else. */
export function decodeLink(fragment: string): Promise<Question>;
