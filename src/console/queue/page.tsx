import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Queue() {
  usePageTitle('Queue');
  return <Empty title="This page is not there yet" />;
}
