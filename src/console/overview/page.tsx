import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Overview() {
  usePageTitle('Overview');
  return <Empty title="This page is not there yet" />;
}
