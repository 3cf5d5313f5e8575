/** The element <pod-fate>, which importing this module defines. */
export interface PodFate extends HTMLElement {
  /** Asks what the example asks, as its button does. */
  run(): Promise<void>;
}

/** What the event "podfate" of an element says of each answer. */
export interface PodFateAnswer {
  verdict: {title: string; text: string; tone: string; mark: string};
  /** The reader has changed the question. */
  edited: boolean;
  /** The answer is the one that the attribute expect names; true without it. */
  expected: boolean;
}

declare global {
  interface HTMLElementTagNameMap {
    'pod-fate': PodFate;
  }
}
